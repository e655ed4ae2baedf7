#include "resident_weights.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gannet {
namespace {

constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kHole = 64 << 10;  // reading less than this is cheaper than another request

std::uint64_t rounded_up(std::uint64_t n) {
    return (n + kBlock - 1) / kBlock * kBlock;
}

}  // namespace

ResidentWeights::ResidentWeights(std::vector<std::string> paths, std::vector<TensorPlace> tensors,
                                 std::uint32_t threads, bool direct)
    : reader_(std::move(paths), threads, direct) {
    std::sort(tensors.begin(), tensors.end(), [](const TensorPlace& a, const TensorPlace& b) {
        return std::tie(a.file, a.offset) < std::tie(b.file, b.offset);
    });
    for (const TensorPlace& tensor : tensors) place(tensor);
    if (stretches_.empty()) return;
    const Stretch& last = stretches_.back();
    space_ = AddressSpace(rounded_up(last.at + last.bytes), AddressSpace::Access::kReadWrite);
    space_.commit(0, space_.size());
    for (const Stretch& s : stretches_) reader_.read(s.file, s.offset, s.bytes, space_.data() + s.at);
}

// Behind the tensor before it where it lies behind it in the file; at an address as far from a block's
// beginning as it is in the file in any case.
void ResidentWeights::place(const TensorPlace& tensor) {
    const bool follows = !stretches_.empty() && stretches_.back().file == tensor.file &&
                         tensor.offset >= stretches_.back().offset &&
                         tensor.offset <= stretches_.back().offset + stretches_.back().bytes + kHole;
    if (!follows) {
        const std::uint64_t end = stretches_.empty() ? 0 : stretches_.back().at + stretches_.back().bytes;
        stretches_.push_back({tensor.file, tensor.offset, 0, rounded_up(end) + tensor.offset % kBlock});
    }
    Stretch& s = stretches_.back();
    places_[tensor.name] = {s.at + (tensor.offset - s.offset), tensor.bytes};
    s.bytes = std::max(s.bytes, tensor.offset + tensor.bytes - s.offset);
}

std::byte* ResidentWeights::find(const std::string& tensor, std::uint64_t bytes) const {
    const auto it = places_.find(tensor);
    if (it == places_.end() || it->second.second != bytes) return nullptr;
    return space_.data() + it->second.first;
}

}  // namespace gannet
