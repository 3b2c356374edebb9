#include "probes.h"

#include <fstream>
#include <map>
#include <sstream>
#include "tenon_test_paths.h"

namespace tenon::probes {

std::string text_of(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    LowerOptions options, SourceLocation where) {
  options.simple_mode = true;
  options.passes.verify_each_pass = true;
  return printed(lower(schedule, args, options, where));
}

std::string body_of(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    LowerOptions options, SourceLocation where) {
  const std::string text = text_of(schedule, args, std::move(options), where);
  return text.substr(text.find('\n', text.find("preflattened_buffer_map")) + 1);
}

std::string normalized(const std::string& text) {
  std::istringstream in(text);
  std::string result, line;
  while (std::getline(in, line)) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) result.append(line).append("\n");
  }
  return result;
}

namespace {

using Lines = std::vector<std::string>;

/// "[15:09:17] tvm-0.9.0/...: Warning: ..."
bool is_warning(const std::string& line) {
  return line.size() > 10 && line[0] == '[' && line[3] == ':' && line[6] == ':';
}

/// The heading that begins with this line, and what of the line is text.
struct Heading {
  std::string name, rest;
};
std::optional<Heading> heading_in(const std::string& line) {
  if (line.starts_with("===== ") || line.starts_with("----- ")) return Heading{line.substr(6), ""};
  if (line.starts_with("@a1 = ")) return Heading{"two functions", line};
  if (line.starts_with("ret ")) return Heading{line.substr(0, 5), ""};
  return std::nullopt;
}

/// A function is what stands from its name to its last brace; behind it may come what a probe
/// printed besides.
std::string only_functions(const Lines& lines) {
  std::size_t first = 0, last = lines.size();
  for (std::size_t n = 0; n < lines.size(); ++n)
    if (lines[n].starts_with("@")) {
      first = n;
      break;
    }
  for (std::size_t n = first; n < lines.size(); ++n)
    if (lines[n] == "}" && (n + 1 == lines.size() || !lines[n + 1].starts_with("@"))) {
      last = n + 1;
      break;
    }
  std::string text;
  for (std::size_t n = first; n < last; ++n) text.append(lines[n]).append("\n");
  return text;
}

/// Lines that were printed as a list: ['a', 'b', ''].
Lines entries_of(const std::string& list) {
  Lines entries;
  for (std::size_t at = 2; at < list.size();) {
    const std::size_t end = list.find('\'', at);
    if (end > at) entries.push_back(list.substr(at, end - at));
    at = end + 4;
  }
  return entries;
}

std::map<std::string, std::string> read_records(const std::string& file) {
  std::string path = TENON_GOLDEN_DIR "/probes/";
  path.append(file).append(".txt");
  std::ifstream in(path);
  std::map<std::string, Lines> sections;
  Lines* section = nullptr;
  std::string line;
  while (std::getline(in, line)) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || is_warning(line)) continue;
    if (const std::optional<Heading> heading = heading_in(line)) {
      const std::string name = file + ": " + heading->name;
      section = &sections[sections.contains(name) ? name + " #2" : name];
      line = heading->rest;
    }
    if (line.starts_with("OK ")) line.erase(0, 3);
    if (line == "None") continue;
    if (section && line.starts_with("['")) {
      for (const std::string& entry : entries_of(line))
        if (!entry.starts_with("  preflattened_buffer_map")) section->push_back(entry);
      continue;
    }
    if (section && !line.empty()) section->push_back(line);
  }
  std::map<std::string, std::string> records;
  for (const auto& [name, lines] : sections) records[name] = only_functions(lines);
  return records;
}

}  // namespace

std::optional<std::string> recorded(std::string_view name) {
  const std::string key(name);
  const std::map<std::string, std::string> records = read_records(key.substr(0, key.find(':')));
  const auto it = records.find(key);
  if (it == records.end()) return std::nullopt;
  return it->second;
}

std::vector<Probe> probes_of_e();
std::vector<Probe> probes_of_p();
std::vector<Probe> probes_of_q();

std::vector<Probe> all_probes() {
  std::vector<Probe> all;
  for (const auto& part : {probes_of_e(), probes_of_p(), probes_of_q()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<LeftOut> left_out() {
  constexpr std::string_view kTyped = "does not compile: the interface's types say what is taken";
  constexpr std::string_view kMachine = "depends on the machine's devices";
  return {
      {"e1: reduce axis wrong", kTyped},
      {"e1: split both", "split and split_by_nparts take one number each"},
      {"e1: split none", "split and split_by_nparts take one number each"},
      {"e1: lower bad arg", kTyped},
      {"e1: build no args", kTyped},
      {"e1: lower list", kTyped},
      {"e1: if bool", kTyped},
      {"e1: cmp bool", kTyped},
      {"e1: Add mismatch", "expressions are made by operators, which promote"},
      {"e1: const int overflow #2", "constants are made by make_const"},
      {"e1: thread_axis", kTyped},
      {"e2: extern bad ret", kTyped},
      {"e2: extern input", kTyped},
      {"e2: intrin bad op", kTyped},
      {"e2: intrin 4 ret", kTyped},
      {"e2: tag nested", "a tag is an option of one operation"},
      {"e3: none", kTyped},
      {"e3: get_source none", "a text of LLVM's, with a name of the reference's"},
      {"e3: get_source ll", "a text of LLVM's, with a name of the reference's"},
      {"e3: asm", "a text of LLVM's, with a name of the reference's"},
      {"e3: cuda dev", kMachine},
      {"e3: nd cuda", kMachine},
      {"e3: nd f16", "arrays are not printed"},
      {"e3: nd bool", "arrays are not printed"},
      {"e3: build no target cuda", kMachine},
      {"e3: gpu unbound cuda", kMachine},
      {"e3: multi entry", "a module is called by the name of a function"},
      {"p3: extern", "packed functions"},
      {"p7: grad not dependent", "automatic differentiation"},
      {"p7: grad eq", "automatic differentiation"},
      {"p7: grad cos", "automatic differentiation"},
      {"p9: keep trivial", "a loop of one iteration is never kept"},
      {"p9: bad cfg", kTyped},
      {"q1: for_range kind", kTyped},
      {"q3: tensorize none", kTyped},
  };
}

std::vector<std::string> recorded_names() {
  std::vector<std::string> names;
  for (const char* file :
       {"e1", "e2", "e3", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "q1", "q3"})
    for (const auto& [name, text] : read_records(file)) names.push_back(name);
  return names;
}

}  // namespace tenon::probes
