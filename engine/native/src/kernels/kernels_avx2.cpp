// The kernels for AVX2 without VNNI (Haswell to Skylake, Zen to Zen 3).
#if defined(GANNET_X86_KERNELS)
#include "kernels/avx2_kernels.h"

namespace gannet::avx2 {

const FastKernel* find(ggml_type type) {
    for (const FastKernel* kernel : {&kQ4K, &kQ6K}) {
        if (kernel->type == type) return kernel;
    }
    return nullptr;
}

}  // namespace gannet::avx2
#endif
