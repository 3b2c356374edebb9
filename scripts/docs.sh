#!/usr/bin/env bash
# docs.sh: makes HTML pages of the public headers with Doxygen, in build/docs/html. Fails if a public name has
# no contract, or if Doxygen reports anything else.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --with-docs
mkdir -p build/docs
doxygen - <<END
PROJECT_NAME         = Tenon
PROJECT_BRIEF        = "A tensor-expression compiler"
OUTPUT_DIRECTORY     = build/docs
INPUT                = include
RECURSIVE            = YES
FILE_PATTERNS        = *.h
FILTER_PATTERNS      = "*.h=python3 scripts/doc_comments.py"
STRIP_FROM_PATH      = include
STRIP_FROM_INC_PATH  = include
# Excluded: DLPack's own header; names that users do not need; the table of members of each kind of node.
EXCLUDE              = include/tenon/runtime/dlpack.h
EXCLUDE_SYMBOLS      = *detail* tenon::tir::kFields* std::hash*
JAVADOC_AUTOBRIEF    = YES
DISTRIBUTE_GROUP_DOC = YES
BUILTIN_STL_SUPPORT  = YES
SORT_MEMBER_DOCS     = NO
HAVE_DOT             = NO
GENERATE_LATEX       = NO
QUIET                = YES
WARN_AS_ERROR        = FAIL_ON_WARNINGS
END
echo "docs.sh: build/docs/html/index.html"
