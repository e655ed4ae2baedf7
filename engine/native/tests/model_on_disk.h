// A file of known bytes with expert tensors in it, for tests of what reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "expert_index.h"

namespace gannet {

// The byte that lies at this offset of every test file: no two neighbouring experts look alike.
inline std::byte byte_at(std::uint64_t offset) {
    std::uint64_t x = offset / 8 + 1;
    x *= 0x9E3779B97F4A7C15U;
    x ^= x >> 29;
    return static_cast<std::byte>(x >> (offset % 8 * 8) & 0xFFU);
}

// A file that is removed with this object.
class TempFile {
  public:
    explicit TempFile(std::uint64_t size) : TempFile(size, std::filesystem::temp_directory_path()) {}
    TempFile(std::uint64_t size, const std::filesystem::path& folder) : size_(size) {
        std::random_device random;
        path_ = (folder / ("gannet-test-" + std::to_string(random()) + std::to_string(random()))).string();
        write();
    }
    ~TempFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;

    const std::string& path() const { return path_; }
    std::uint64_t size() const { return size_; }
    // Puts all its bytes there, again if need be.
    void write() {
        std::vector<char> bytes(size_);
        for (std::uint64_t i = 0; i < size_; i++) bytes[i] = static_cast<char>(byte_at(i));
        std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
        if (!file) file.open(path_, std::ios::binary | std::ios::out);
        file.write(bytes.data(), static_cast<std::streamsize>(size_));
    }
    void shorten(std::uint64_t size) { std::filesystem::resize_file(path_, size); }
    void remove() { std::filesystem::remove(path_); }

  private:
    std::string path_;
    std::uint64_t size_;
};

struct Shape {
    std::uint32_t n_layers = 3;
    std::uint32_t n_experts = 8;
    std::vector<std::uint64_t> part_bytes{5000, 5000, 7001};
    std::uint64_t begin = 123;  // nothing in a GGUF is aligned to a drive's blocks
    bool last_layer_larger = true;
};

inline std::vector<LayerSpec> make_layers(const Shape& shape) {
    std::vector<LayerSpec> layers;
    std::uint64_t at = shape.begin;
    for (std::uint32_t l = 0; l < shape.n_layers; l++) {
        LayerSpec layer;
        layer.block = l;
        layer.n_experts = shape.n_experts;
        const std::uint64_t more = shape.last_layer_larger && l + 1 == shape.n_layers ? 3000 : 0;
        for (std::size_t p = 0; p < shape.part_bytes.size(); p++) {
            const std::uint64_t bytes = shape.part_bytes[p] + more;
            layer.parts.push_back({"blk." + std::to_string(l) + ".part" + std::to_string(p), 0, at, bytes});
            at += bytes * shape.n_experts;
        }
        layers.push_back(layer);
    }
    return layers;
}

inline std::uint64_t end_of(const std::vector<LayerSpec>& layers) {
    const LayerSpec& last = layers.back();
    return last.parts.back().offset + last.parts.back().bytes * last.n_experts;
}

// Whether `data` is what the file holds for this expert's part, every byte.
inline bool is_expert(const std::byte* data, const LayerSpec& layer, std::uint32_t part, std::uint32_t expert) {
    if (data == nullptr) return false;
    const PartSpec& spec = layer.parts[part];
    const std::uint64_t begin = spec.offset + spec.bytes * expert;
    for (std::uint64_t i = 0; i < spec.bytes; i++) {
        if (data[i] != byte_at(begin + i)) return false;
    }
    return true;
}

}  // namespace gannet
