#include "te/operations/tag_scope.h"

namespace tenon::te {

namespace {

// The only ambient state of the room. A scope reaches declarations in functions that know nothing
// of it, which no argument can; it belongs to a thread, so that threads do not tag each other's
// operations; and it ends with the scope, which owns the tag, so that nothing that is declared
// later depends on it.
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
