// The weights that every token needs: where each lies in memory, and the reads that bring them there.
//
// Reading begins at once, before llama.cpp has looked at the file: the drive works while it reads the
// vocabulary and makes its tensors, which are then told where their data is (or will be). Memory is laid
// out as the files are, so that direct reads go straight to their place. Tensors whose name llama.cpp uses
// twice (an output that is the token embedding) share it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "address_space.h"
#include "resident_reader.h"

namespace gannet {

struct TensorPlace {
    std::string name;
    std::uint32_t file = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

class ResidentWeights {
  public:
    // Throws std::bad_alloc. The weights are there once reader().finish() has returned no error.
    ResidentWeights(std::vector<std::string> paths, std::vector<TensorPlace> tensors, std::uint32_t threads,
                    bool direct);

    // The tensor's memory; nullptr when it is not known under this name and size.
    std::byte* find(const std::string& tensor, std::uint64_t bytes) const;
    ResidentReader& reader() { return reader_; }

  private:
    struct Stretch {  // of a file, without holes worth skipping
        std::uint32_t file;
        std::uint64_t offset;
        std::uint64_t bytes;
        std::uint64_t at;  // in memory
    };
    void place(const TensorPlace& tensor);

    std::unordered_map<std::string, std::pair<std::uint64_t, std::uint64_t>> places_;  // where in memory, bytes
    std::vector<Stretch> stretches_;
    AddressSpace space_;
    ResidentReader reader_;  // after the memory it fills: its threads end first
};

}  // namespace gannet
