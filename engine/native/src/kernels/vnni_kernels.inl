// Kernels for processors that multiply bytes into 32-bit sums, included once per instruction set.
//
// Q4_K, 256 weights a block: d, dmin (half floats), eight 6-bit scales and mins in 12 bytes, 128 bytes of
// nibbles. ggml adds, per block, 8 integer lanes and 4 lanes of mins, each scaled into float lanes that
// run along the row. Q6_K: 6 bits in 128 + 64 bytes, less 32, sixteen 8-bit scales, d; 8 integer lanes a
// block. Q8_0, 32 weights a block: d and signed bytes; 8 integer lanes a block. MXFP4: vnni_mxfp4.inl. The
// integers may be added in any order; the float operations here are ggml's, in ggml's order, so the results are the
// same bits.
#include <cstring>

#include "kernels/blocks.h"
#include "kernels/fast_kernels.h"
#include "kernels/read_ahead.h"

namespace gannet::GANNET_KERNELS {
namespace {

struct alignas(64) PackedQ8K {
    std::int8_t quants[256];  // as they are
    std::int16_t sums[8];     // of 32 quants each
    float d;
};

std::size_t packed_bytes(std::int64_t columns) {
    return static_cast<std::size_t>(columns / 256) * sizeof(PackedQ8K);
}

void pack(const void* quantized, std::int64_t columns, std::byte* packed) {
    const auto* from = static_cast<const BlockQ8K*>(quantized);
    auto* to = reinterpret_cast<PackedQ8K*>(packed);
    for (std::int64_t i = 0; i < columns / 256; i++) {
        std::memcpy(to[i].quants, from[i].quants, sizeof to[i].quants);
        for (int k = 0; k < 8; k++) {
            to[i].sums[k] = static_cast<std::int16_t>(from[i].sums[2 * k] + from[i].sums[2 * k + 1]);
        }
        to[i].d = from[i].d;
    }
}

struct alignas(64) PackedForQ6K {
    std::int8_t quants[256];
    std::int16_t sums[16];
    float d;
};

struct alignas(32) PackedQ80 {
    std::int8_t quants[32];
    std::int32_t less[8];  // the offset times the sums of 4 quants each: what weights made unsigned add too much
    float d;
};

inline std::uint32_t word(const std::uint8_t* p) {
    std::uint32_t v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

inline std::uint64_t join(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{low} | std::uint64_t{high} << 32;
}

inline float half_to_float(std::uint16_t h) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(h)));
}

inline float sum8(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_extractf128_ps(v, 1), _mm256_castps256_ps128(v));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

inline float sum4(__m128 v) {
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

// Scale k of eight, in the low byte of every 32-bit lane.
inline __m256i spread(__m256i scales, int k) {
    return _mm256_shuffle_epi8(scales, _mm256_set1_epi32(static_cast<int>(0x80808000U | static_cast<unsigned>(k))));
}

struct Scales {
    __m256i scales;  // eight bytes, repeated
    __m128i mins;    // eight 16-bit lanes
};

inline Scales scales_of(const BlockQ4K& x) {
    const std::uint32_t a = word(x.scales);
    const std::uint32_t b = word(x.scales + 4);
    const std::uint32_t c = word(x.scales + 8);
    const std::uint64_t scale_bytes = join(a & 0x3F3F3F3FU, (c & 0x0F0F0F0FU) | (a >> 6 & 0x03030303U) << 4);
    const std::uint64_t min_bytes = join(b & 0x3F3F3F3FU, (c >> 4 & 0x0F0F0F0FU) | (b >> 6 & 0x03030303U) << 4);
    return {_mm256_set1_epi64x(static_cast<long long>(scale_bytes)),
            _mm_cvtepu8_epi16(_mm_cvtsi64_si128(static_cast<long long>(min_bytes)))};
}

float dot_q4_k(const BlockQ4K* x, const PackedQ8K* y, std::int64_t blocks) {
    const __m256i low_nibble = _mm256_set1_epi8(15);
    __m256 sum = _mm256_setzero_ps();
    __m128 sum_mins = _mm_setzero_ps();
    for (std::int64_t i = 0; i < blocks; i++) {
        read_ahead(reinterpret_cast<const std::byte*>(x + i), sizeof *x);
        const Scales s = scales_of(x[i]);
        const __m128i of_mins = _mm_madd_epi16(s.mins, _mm_load_si128(reinterpret_cast<const __m128i*>(y[i].sums)));
        const float d = y[i].d * half_to_float(x[i].d);
        const float dmin = -y[i].d * half_to_float(x[i].dmin);
        sum_mins = _mm_fmadd_ps(_mm_set1_ps(dmin), _mm_cvtepi32_ps(of_mins), sum_mins);
        __m256i even = _mm256_setzero_si256();
        __m256i odd = _mm256_setzero_si256();
        for (int j = 0; j < 4; j++) {
            const __m256i q = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x[i].quants) + j);
            const auto* v = reinterpret_cast<const __m256i*>(y[i].quants) + 2 * j;
            const __m256i low = GANNET_DPBUSD(_mm256_setzero_si256(), _mm256_and_si256(q, low_nibble), v[0]);
            const __m256i high =
                GANNET_DPBUSD(_mm256_setzero_si256(), _mm256_and_si256(_mm256_srli_epi16(q, 4), low_nibble), v[1]);
            // Four products of 15 x 127 fit 16 bits: the upper half of a lane is its sign, times a scale of 0.
            even = GANNET_DPWSSD(even, low, spread(s.scales, 2 * j));
            odd = GANNET_DPWSSD(odd, high, spread(s.scales, 2 * j + 1));
        }
        sum = _mm256_fmadd_ps(_mm256_set1_ps(d), _mm256_cvtepi32_ps(_mm256_add_epi32(even, odd)), sum);
    }
    return sum8(sum) + sum4(sum_mins);
}

void multiply_q4_k(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* packed, float* out) {
    const auto* y = reinterpret_cast<const PackedQ8K*>(packed);
    begin_reading(rows.data + static_cast<std::size_t>(begin) * rows.stride);
    for (std::int64_t r = begin; r < end; r++) {
        const std::byte* row = rows.data + static_cast<std::size_t>(r) * rows.stride;
        out[r] = dot_q4_k(reinterpret_cast<const BlockQ4K*>(row), y, rows.columns / 256);
    }
}

// One row times N vectors: its nibbles and scales are unpacked once. Every sum as in dot_q4_k.
template <int N>
void dots_q4_k(const BlockQ4K* x, const std::byte* const* packed, std::int64_t blocks, float* const* out,
               std::int64_t row) {
    const __m256i low_nibble = _mm256_set1_epi8(15);
    const PackedQ8K* y[N];
    __m256 sum[N];
    __m128 sum_mins[N];
    for (int c = 0; c < N; c++) {
        y[c] = reinterpret_cast<const PackedQ8K*>(packed[c]);
        sum[c] = _mm256_setzero_ps();
        sum_mins[c] = _mm_setzero_ps();
    }
    for (std::int64_t i = 0; i < blocks; i++) {
        read_ahead(reinterpret_cast<const std::byte*>(x + i), sizeof *x);
        const Scales s = scales_of(x[i]);
        __m256i even[N];
        __m256i odd[N];
        for (int c = 0; c < N; c++) even[c] = odd[c] = _mm256_setzero_si256();
        for (int j = 0; j < 4; j++) {
            const __m256i q = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x[i].quants) + j);
            const __m256i low = _mm256_and_si256(q, low_nibble);
            const __m256i high = _mm256_and_si256(_mm256_srli_epi16(q, 4), low_nibble);
            const __m256i of_low = spread(s.scales, 2 * j);
            const __m256i of_high = spread(s.scales, 2 * j + 1);
            for (int c = 0; c < N; c++) {
                const auto* v = reinterpret_cast<const __m256i*>(y[c][i].quants) + 2 * j;
                even[c] = GANNET_DPWSSD(even[c], GANNET_DPBUSD(_mm256_setzero_si256(), low, v[0]), of_low);
                odd[c] = GANNET_DPWSSD(odd[c], GANNET_DPBUSD(_mm256_setzero_si256(), high, v[1]), of_high);
            }
        }
        const float d = half_to_float(x[i].d);
        const float dmin = half_to_float(x[i].dmin);
        for (int c = 0; c < N; c++) {
            const __m128i of_mins =
                _mm_madd_epi16(s.mins, _mm_load_si128(reinterpret_cast<const __m128i*>(y[c][i].sums)));
            sum_mins[c] = _mm_fmadd_ps(_mm_set1_ps(-y[c][i].d * dmin), _mm_cvtepi32_ps(of_mins), sum_mins[c]);
            const __m256 whole = _mm256_cvtepi32_ps(_mm256_add_epi32(even[c], odd[c]));
            sum[c] = _mm256_fmadd_ps(_mm256_set1_ps(y[c][i].d * d), whole, sum[c]);
        }
    }
    for (int c = 0; c < N; c++) out[c][row] = sum8(sum[c]) + sum4(sum_mins[c]);
}

template <int N>
void multiply_n_q4_k(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* const* packed,
                     float* const* out) {
    begin_reading(rows.data + static_cast<std::size_t>(begin) * rows.stride);
    for (std::int64_t r = begin; r < end; r++) {
        const std::byte* row = rows.data + static_cast<std::size_t>(r) * rows.stride;
        dots_q4_k<N>(reinterpret_cast<const BlockQ4K*>(row), packed, rows.columns / 256, out, r);
    }
}

void multiply_many_q4_k(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* const* packed,
                        std::size_t n, float* const* out) {
    for (; n >= 4; n -= 4, packed += 4, out += 4) multiply_n_q4_k<4>(rows, begin, end, packed, out);
    if (n == 3) multiply_n_q4_k<3>(rows, begin, end, packed, out);
    if (n == 2) multiply_n_q4_k<2>(rows, begin, end, packed, out);
    if (n == 1) multiply_n_q4_k<1>(rows, begin, end, packed, out);
}

std::size_t packed_bytes_q6_k(std::int64_t columns) {
    return static_cast<std::size_t>(columns / 256) * sizeof(PackedForQ6K);
}

void pack_q6_k(const void* quantized, std::int64_t columns, std::byte* packed) {
    const auto* from = static_cast<const BlockQ8K*>(quantized);
    auto* to = reinterpret_cast<PackedForQ6K*>(packed);
    for (std::int64_t i = 0; i < columns / 256; i++) {
        std::memcpy(to[i].quants, from[i].quants, sizeof to[i].quants);
        std::memcpy(to[i].sums, from[i].sums, sizeof to[i].sums);
        to[i].d = from[i].d;
    }
}

inline __m256i load(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}

// Of 32 quants the scales of both halves: scale 2k of sixteen in the lower lanes, 2k + 1 in the upper ones.
inline __m256i spread_pair(__m256i even_odd, int k) {
    const auto bytes = static_cast<int>(0x80800100U + 0x0202U * static_cast<unsigned>(k));
    return _mm256_shuffle_epi8(even_odd, _mm256_set1_epi32(bytes));
}

float dot_q6_k(const BlockQ6K* x, const PackedForQ6K* y, std::int64_t blocks) {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i pair = _mm256_set1_epi8(0x30);
    const __m128i even_then_odd = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    __m256 sum = _mm256_setzero_ps();
    for (std::int64_t i = 0; i < blocks; i++) {
        read_ahead(reinterpret_cast<const std::byte*>(x + i), sizeof *x);
        const __m128i scales = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x[i].scales));
        const __m256i even_odd = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scales, even_then_odd));
        const __m256i excess = _mm256_madd_epi16(load(y[i].sums), _mm256_cvtepi8_epi16(scales));
        const float d = y[i].d * half_to_float(x[i].d);
        __m256i one = _mm256_setzero_si256();
        __m256i other = _mm256_setzero_si256();
        for (int j = 0; j < 2; j++) {
            const __m256i a = load(x[i].low + 64 * j);
            const __m256i b = load(x[i].low + 64 * j + 32);
            const __m256i h = load(x[i].high + 32 * j);
            const __m256i q[4] = {
                _mm256_or_si256(_mm256_and_si256(a, nibble), _mm256_and_si256(_mm256_slli_epi16(h, 4), pair)),
                _mm256_or_si256(_mm256_and_si256(b, nibble), _mm256_and_si256(_mm256_slli_epi16(h, 2), pair)),
                _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(a, 4), nibble), _mm256_and_si256(h, pair)),
                _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(b, 4), nibble),
                                _mm256_and_si256(_mm256_srli_epi16(h, 2), pair)),
            };
            // Four products of 63 x 127 fit 16 bits.
            for (int k = 0; k < 4; k++) {
                const __m256i products =
                    GANNET_DPBUSD(_mm256_setzero_si256(), q[k], load(y[i].quants + 128 * j + 32 * k));
                __m256i& lanes = k % 2 == 0 ? one : other;
                lanes = GANNET_DPWSSD(lanes, products, spread_pair(even_odd, 4 * j + k));
            }
        }
        const __m256i lanes = _mm256_sub_epi32(_mm256_add_epi32(one, other), _mm256_slli_epi32(excess, 5));
        sum = _mm256_fmadd_ps(_mm256_set1_ps(d), _mm256_cvtepi32_ps(lanes), sum);
    }
    return sum8(sum);
}

void multiply_q6_k(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* packed, float* out) {
    const auto* y = reinterpret_cast<const PackedForQ6K*>(packed);
    begin_reading(rows.data + static_cast<std::size_t>(begin) * rows.stride);
    for (std::int64_t r = begin; r < end; r++) {
        const std::byte* row = rows.data + static_cast<std::size_t>(r) * rows.stride;
        out[r] = dot_q6_k(reinterpret_cast<const BlockQ6K*>(row), y, rows.columns / 256);
    }
}

std::size_t packed_bytes_q8_0(std::int64_t columns) {
    return static_cast<std::size_t>(columns / 32) * sizeof(PackedQ80);
}

// For weights that `offset` made unsigned.
template <int offset>
void pack_q8_0(const void* quantized, std::int64_t columns, std::byte* packed) {
    const auto* from = static_cast<const BlockQ80*>(quantized);
    auto* to = reinterpret_cast<PackedQ80*>(packed);
    for (std::int64_t i = 0; i < columns / 32; i++) {
        std::memcpy(to[i].quants, from[i].quants, sizeof to[i].quants);
        for (int k = 0; k < 8; k++) {
            const std::int8_t* q = from[i].quants + 4 * k;
            to[i].less[k] = -offset * (q[0] + q[1] + q[2] + q[3]);
        }
        to[i].d = half_to_float(from[i].d);
    }
}

float dot_q8_0(const BlockQ80* x, const PackedQ80* y, std::int64_t blocks) {
    const __m256i sign = _mm256_set1_epi8(-128);
    __m256 sum = _mm256_setzero_ps();
    for (std::int64_t i = 0; i < blocks; i++) {
        const __m256i q = _mm256_xor_si256(load(x[i].quants), sign);
        const __m256i lanes = GANNET_DPBUSD(load(y[i].less), q, load(y[i].quants));
        sum = _mm256_fmadd_ps(_mm256_set1_ps(half_to_float(x[i].d) * y[i].d), _mm256_cvtepi32_ps(lanes), sum);
    }
    return sum8(sum);
}

void multiply_q8_0(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* packed, float* out) {
    const auto* y = reinterpret_cast<const PackedQ80*>(packed);
    const auto row_bytes = static_cast<std::size_t>(rows.columns / 32) * sizeof(BlockQ80);
    begin_reading(rows.data + static_cast<std::size_t>(begin) * rows.stride);
    for (std::int64_t r = begin; r < end; r++) {
        const std::byte* row = rows.data + static_cast<std::size_t>(r) * rows.stride;
        read_ahead(row, row_bytes);
        out[r] = dot_q8_0(reinterpret_cast<const BlockQ80*>(row), y, rows.columns / 32);
    }
}

#include "kernels/vnni_mxfp4.inl"

constexpr FastKernel kKernels[] = {
    {GGML_TYPE_Q4_K, packed_bytes, pack, multiply_q4_k, multiply_many_q4_k},
    {GGML_TYPE_Q6_K, packed_bytes_q6_k, pack_q6_k, multiply_q6_k},
    {GGML_TYPE_Q8_0, packed_bytes_q8_0, pack_q8_0<128>, multiply_q8_0},
    {GGML_TYPE_MXFP4, packed_bytes_q8_0, pack_q8_0<12>, multiply_mxfp4, multiply_many_mxfp4},
};

}  // namespace

const FastKernel* find(ggml_type type) {
    for (const FastKernel& kernel : kKernels) {
        if (kernel.type == type) return &kernel;
    }
    return nullptr;
}

}  // namespace gannet::GANNET_KERNELS
