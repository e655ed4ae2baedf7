// The kernels for AVX-VNNI (Alder Lake and later, without AVX-512).
#if defined(GANNET_X86_KERNELS)
#include <immintrin.h>

#define GANNET_KERNELS avxvnni
#define GANNET_DPBUSD _mm256_dpbusd_avx_epi32
#define GANNET_DPWSSD _mm256_dpwssd_avx_epi32
#include "kernels/vnni_kernels.inl"
#endif
