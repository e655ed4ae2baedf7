// The kernels of ours, by weight type: the best one that this processor can run.
#pragma once

#include "row_kernel.h"

namespace gannet {

// nullptr when there is none for the type or the processor.
const FastKernel* find_fast_kernel(ggml_type type);

// One set per instruction set, each compiled for it alone (CMakeLists.txt).
namespace avx512vnni {
const FastKernel* find(ggml_type type);
}
namespace avxvnni {
const FastKernel* find(ggml_type type);
}
namespace avx2 {
const FastKernel* find(ggml_type type);
}

}  // namespace gannet
