// How many rows of one expert ggml multiplies one by one.
//
// For many rows MUL_MAT_ID has another kernel, whose sums are rounded in another order. Where that begins is
// ggml's affair and differs from build to build, so it is found by trial.
#pragma once

#include <cstddef>

#include "ggml.h"

namespace gannet {

// The most rows, 0 to 16, for which MUL_MAT_ID gives the bits of our kernel for several vectors; 0 where there is
// no such kernel. Tried once for each type.
std::size_t rows_multiplied_singly(ggml_type weights);

}  // namespace gannet
