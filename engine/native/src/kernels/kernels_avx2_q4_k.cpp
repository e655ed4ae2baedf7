// Q4_K for AVX2: d, dmin (half floats), eight 6-bit scales and mins in 12 bytes, 128 bytes of nibbles. Per
// block of 256 weights ggml adds 8 integer lanes and 4 lanes of mins, each scaled into float lanes that run
// along the row.
#if defined(GANNET_X86_KERNELS)
#include "kernels/avx2_kernels.h"

namespace gannet::avx2 {
namespace {

struct alignas(64) Packed {
    std::int8_t quants[256];  // groups 0 and 2 of 32 woven, 1 and 3, 4 and 6, 5 and 7
    std::int16_t sums[8];     // of 32 quants each
    float d[4];               // d, -d, 0, 0
};

std::size_t packed_bytes(std::int64_t columns) {
    return static_cast<std::size_t>(columns / 256) * sizeof(Packed);
}

void pack(const void* quantized, std::int64_t columns, std::byte* packed) {
    const auto* from = static_cast<const BlockQ8K*>(quantized);
    auto* to = reinterpret_cast<Packed*>(packed);
    for (std::int64_t i = 0; i < columns / 256; i++) {
        for (int j = 0; j < 4; j++) {
            const std::int8_t* group = from[i].quants + 128 * (j / 2) + 32 * (j % 2);
            weave(group, group + 64, to[i].quants + 64 * j);
        }
        for (int k = 0; k < 8; k++) {
            to[i].sums[k] = static_cast<std::int16_t>(from[i].sums[2 * k] + from[i].sums[2 * k + 1]);
        }
        to[i].d[0] = from[i].d;
        to[i].d[1] = -from[i].d;
        to[i].d[2] = to[i].d[3] = 0.0F;
    }
}

// What a block's sums are multiplied by, unpacked by the integer units while the block before is multiplied.
template <int N>
struct alignas(16) Head {
    std::uint32_t even[2];  // scales 0 and 2 in 16 bits each, 4 and 6
    std::uint32_t odd[2];   // 1 and 3, 5 and 7
    float d[N][4];          // by vector: d and -dmin times the vector's d, and two that mean nothing
    std::uint64_t mins;
};

inline std::uint32_t word(const std::uint8_t* p) {
    std::uint32_t v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

inline std::uint64_t join(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{low} | std::uint64_t{high} << 32;
}

template <int N>
inline void unpack(const BlockQ4K& x, const Packed* const* y, std::int64_t i, Head<N>& head) {
    const std::uint32_t a = word(x.scales);
    const std::uint32_t b = word(x.scales + 4);
    const std::uint32_t c = word(x.scales + 8);
    const std::uint64_t scales = join(a & 0x3F3F3F3FU, (c & 0x0F0F0F0FU) | (a >> 6 & 0x03030303U) << 4);
    const std::uint64_t even = scales & 0x00FF00FF00FF00FFU;
    const std::uint64_t odd = scales >> 8 & 0x00FF00FF00FF00FFU;
    std::memcpy(head.even, &even, sizeof even);
    std::memcpy(head.odd, &odd, sizeof odd);
    head.mins = join(b & 0x3F3F3F3FU, (c >> 4 & 0x0F0F0F0FU) | (b >> 6 & 0x03030303U) << 4);
    const __m128 d = _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&x)));
    for (int v = 0; v < N; v++) _mm_store_ps(head.d[v], _mm_mul_ps(d, _mm_load_ps(y[v][i].d)));
}

template <int N>
struct DotsQ4K {
    const Packed* y[N];
    __m256 sum[N];
    __m128 sum_mins[N];

    void begin_row() {
        for (int c = 0; c < N; c++) {
            sum[c] = _mm256_setzero_ps();
            sum_mins[c] = _mm_setzero_ps();
        }
    }

    void add(const BlockQ4K& x, const Head<N>& head, std::int64_t i) {
        const __m256i low_nibble = _mm256_set1_epi8(15);
        __m256i lanes[N];
        for (int p = 0; p < 2; p++) {
            const Woven q = weave(load(x.quants + 64 * p), load(x.quants + 64 * p + 32));
            const Woven low = {_mm256_and_si256(q.straight, low_nibble), _mm256_and_si256(q.crossed, low_nibble)};
            const Woven high = {_mm256_and_si256(_mm256_srli_epi16(q.straight, 4), low_nibble),
                                _mm256_and_si256(_mm256_srli_epi16(q.crossed, 4), low_nibble)};
            const __m256i of_low = _mm256_set1_epi32(static_cast<int>(head.even[p]));
            const __m256i of_high = _mm256_set1_epi32(static_cast<int>(head.odd[p]));
            for (int c = 0; c < N; c++) {
                const std::int8_t* v = y[c][i].quants + 128 * p;
                // Four products of 15 x 127 fit 16 bits.
                const __m256i more = _mm256_add_epi32(_mm256_madd_epi16(sums_of_products(low, v), of_low),
                                                      _mm256_madd_epi16(sums_of_products(high, v + 64), of_high));
                lanes[c] = p == 0 ? more : _mm256_add_epi32(lanes[c], more);
            }
        }
        const __m128i mins = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&head.mins)));
        for (int c = 0; c < N; c++) {
            const __m128i of_mins =
                _mm_madd_epi16(mins, _mm_load_si128(reinterpret_cast<const __m128i*>(y[c][i].sums)));
            sum_mins[c] = _mm_fmadd_ps(_mm_set1_ps(head.d[c][1]), _mm_cvtepi32_ps(of_mins), sum_mins[c]);
            sum[c] = _mm256_fmadd_ps(_mm256_set1_ps(head.d[c][0]), _mm256_cvtepi32_ps(lanes[c]), sum[c]);
        }
    }

    static void multiply(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* const* packed,
                         float* const* out) {
        const std::int64_t blocks = rows.columns / 256;
        DotsQ4K dots;
        for (int c = 0; c < N; c++) dots.y[c] = reinterpret_cast<const Packed*>(packed[c]);
        if (begin >= end) return;
        begin_reading(row_at(rows, begin));
        Head<N> heads[2];
        unsigned at = 0;
        unpack(*reinterpret_cast<const BlockQ4K*>(row_at(rows, begin)), dots.y, 0, heads[0]);
        for (std::int64_t r = begin; r < end; r++) {
            const auto* x = reinterpret_cast<const BlockQ4K*>(row_at(rows, r));
            const auto* after = r + 1 < end ? reinterpret_cast<const BlockQ4K*>(row_at(rows, r + 1)) : x;
            dots.begin_row();
            for (std::int64_t i = 0; i < blocks; i++, at ^= 1U) {
                read_ahead(reinterpret_cast<const std::byte*>(x + i), sizeof *x);
                const std::int64_t next = i + 1 < blocks ? i + 1 : 0;
                unpack(next > 0 ? x[next] : *after, dots.y, next, heads[at ^ 1U]);
                dots.add(x[i], heads[at], i);
            }
            for (int c = 0; c < N; c++) out[c][r] = sum8(dots.sum[c]) + sum4(dots.sum_mins[c]);
        }
    }
};

void multiply(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* packed, float* out) {
    DotsQ4K<1>::multiply(rows, begin, end, &packed, &out);
}

}  // namespace

const FastKernel kQ4K = {GGML_TYPE_Q4_K, packed_bytes, pack, multiply, multiply_by_fours<DotsQ4K>};

}  // namespace gannet::avx2
#endif
