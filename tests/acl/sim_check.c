/* The backend's list of functions against the simulator's: compiled, never
 * linked. A difference is an error of the compiler. */
#include "ascend.h"

#include "sim_calls.h"

const struct ascend_calls sim_check;
const struct ascend_calls sim_check = {
#define CALL(library, need, type, name, parameters) .name = name,
#include "ascend_calls.def"
#undef CALL
};
