#include "arith/rules/tables.h"

namespace tenon::arith::rules {

std::vector<NamedTable> all_tables() {
  return {
      {"add_rules", add_rules()},
      {"sub_rules", sub_rules()},
      {"mul_rules", mul_rules()},
      {"trunc_div_rules", trunc_div_rules()},
      {"trunc_mod_rules", trunc_mod_rules()},
      {"floor_div_first_rules", floor_div_first_rules()},
      {"floor_div_rules", floor_div_rules()},
      {"floor_mod_rules", floor_mod_rules()},
      {"min_rules", min_rules()},
      {"max_rules", max_rules()},
      {"equal_rules", equal_rules()},
      {"less_rules", less_rules()},
      {"add_any_type_rules", add_any_type_rules()},
      {"sub_any_type_rules", sub_any_type_rules()},
      {"sub_integer_rules", sub_integer_rules()},
      {"min_any_type_rules", min_any_type_rules()},
      {"max_any_type_rules", max_any_type_rules()},
      {"not_rules", not_rules()},
      {"and_rules", and_rules()},
      {"or_rules", or_rules()},
      {"not_integer_rules", not_integer_rules()},
      {"or_integer_rules", or_integer_rules()},
      {"add_vector_rules", add_vector_rules()},
      {"sub_vector_rules", sub_vector_rules()},
      {"mul_vector_rules", mul_vector_rules()},
      {"div_vector_rules", div_vector_rules()},
      {"trunc_div_vector_rules", trunc_div_vector_rules()},
      {"trunc_mod_vector_rules", trunc_mod_vector_rules()},
      {"floor_div_vector_rules", floor_div_vector_rules()},
      {"floor_mod_vector_rules", floor_mod_vector_rules()},
      {"min_vector_rules", min_vector_rules()},
      {"max_vector_rules", max_vector_rules()},
      {"equal_vector_rules", equal_vector_rules()},
      {"less_vector_rules", less_vector_rules()},
      {"not_vector_rules", not_vector_rules()},
      {"and_vector_rules", and_vector_rules()},
      {"or_vector_rules", or_vector_rules()},
  };
}

}  // namespace tenon::arith::rules
