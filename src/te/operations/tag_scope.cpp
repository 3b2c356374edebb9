#include "te/operations/tag_scope.h"

namespace tenon::te {

namespace {

// The only ambient state in te. It must reach declarations in functions that do not know about the
// scope, which an argument cannot do. It is thread-local, so that threads do not tag one another's
// operations, and weak, so that it expires with the scope that owns the tag.
thread_local std::weak_ptr<const std::string> open_tag;

}  // namespace

TagScope::TagScope(const Name& tag, SourceLocation where)
    : tag_(std::make_shared<const std::string>(tag)) {
  if (const std::shared_ptr<const std::string> outer = open_tag.lock())
    throw ScheduleError(
        "tag scope `" + tag + "`: scope `" + *outer +
            "` is open, and tags do not nest; end that scope first, or give operations a "
            "`.tag` of their own",
        where);
  open_tag = tag_.pointer();
}

std::string declared_tag(std::string own) {
  if (!own.empty()) return own;
  const std::shared_ptr<const std::string> tag = open_tag.lock();
  return tag ? *tag : std::string();
}

}  // namespace tenon::te
