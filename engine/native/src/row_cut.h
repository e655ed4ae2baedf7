// How a matrix is cut into the row chunks that the threads of a team take from a queue.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ggml.h"
#include "row_kernel.h"

namespace gannet {

// Long enough that the start of a chunk, which nothing has fetched, does not count; measured.
constexpr std::int64_t kChunkBytes = 220 << 10;

struct Cut {
    std::uint32_t chunks = 1;
    std::int64_t rows = 0;  // a chunk

    // A multiple of `share` chunks (where there are rows enough), of about kChunkBytes.
    Cut(const ggml_tensor* weights, std::uint32_t share) {
        const std::int64_t n = weights->ne[1];
        const auto bytes = n * static_cast<std::int64_t>(weights->nb[1]);
        const std::int64_t fair = std::max<std::int64_t>(1, (bytes + kChunkBytes / 2) / kChunkBytes);
        const std::int64_t wanted = (fair + share - 1) / share * share;
        rows = std::max<std::int64_t>(1, (n + wanted - 1) / wanted);
        chunks = static_cast<std::uint32_t>((n + rows - 1) / rows);
    }
    std::int64_t begin(std::uint32_t chunk) const { return chunk * rows; }
    std::int64_t end(std::uint32_t chunk, const ggml_tensor* weights) const {
        return std::min(begin(chunk) + rows, weights->ne[1]);
    }
};

inline Rows rows_at(const ggml_tensor* weights, const std::byte* data) {
    return {data, weights->nb[1], weights->ne[0]};
}

// Of a product with routed experts: the row of its result that the expert of this rank writes.
inline float* output_row(const ggml_tensor* node, std::uint32_t rank) {
    return reinterpret_cast<float*>(static_cast<std::byte*>(node->data) + rank * node->nb[1]);
}

}  // namespace gannet
