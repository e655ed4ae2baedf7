// Where every routed expert lies: the table from (layer, expert, part) to bytes in files.
//
// A part is one projection of a layer's experts, one tensor in the file: gate, up and down, or a
// fused gate_up and down. Experts follow one another inside a tensor, so one base offset and one
// size per part describe them all. Built once from the validated GGUF header, then immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gannet {

constexpr std::uint32_t kMaxParts = 3;

struct PartSpec {
    std::string tensor;        // name in the file, as in the graph
    std::uint32_t file = 0;    // index into the model's files
    std::uint64_t offset = 0;  // bytes, absolute: expert 0
    std::uint64_t bytes = 0;   // of one expert
};

struct LayerSpec {
    std::uint32_t block = 0;  // N of "blk.N."
    std::uint32_t n_experts = 0;
    std::vector<PartSpec> parts;  // at most kMaxParts
};

struct PartRef {
    std::uint32_t layer = 0;  // index into ExpertIndex::layers, in block order
    std::uint32_t part = 0;
};

class ExpertIndex {
  public:
    // Throws std::invalid_argument when a layer has no parts, too many, or no experts.
    explicit ExpertIndex(std::vector<LayerSpec> layers);

    const std::vector<LayerSpec>& layers() const { return layers_; }
    std::uint32_t n_layers() const { return static_cast<std::uint32_t>(layers_.size()); }
    std::uint32_t n_experts() const { return n_experts_; }  // of the widest layer
    std::optional<PartRef> find(const std::string& tensor) const;

  private:
    std::vector<LayerSpec> layers_;
    std::unordered_map<std::string, PartRef> by_name_;
    std::uint32_t n_experts_ = 0;
};

}  // namespace gannet
