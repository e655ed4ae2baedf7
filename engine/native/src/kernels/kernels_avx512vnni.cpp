// The kernels for AVX-512 VNNI with 256-bit registers (Ice Lake, Zen 4 and later).
#if defined(GANNET_X86_KERNELS)
#include <immintrin.h>

#define GANNET_KERNELS avx512vnni
#define GANNET_DPBUSD _mm256_dpbusd_epi32
#define GANNET_DPWSSD _mm256_dpwssd_epi32
#include "kernels/vnni_kernels.inl"
#endif
