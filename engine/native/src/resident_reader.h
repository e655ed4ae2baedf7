// Reads the always-needed weights into memory, several at once, while llama.cpp goes on loading.
//
// llama.cpp hands tensors over one after another; each becomes a queue of pieces that threads of the
// reader copy from the file through an aligned bounce buffer (direct reads cannot target unaligned
// addresses). finish() waits for all of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "direct_file.h"

namespace gannet {

class ResidentReader {
  public:
    ResidentReader(std::vector<std::string> paths, std::uint32_t threads, bool direct);
    ~ResidentReader();
    ResidentReader(const ResidentReader&) = delete;
    ResidentReader& operator=(const ResidentReader&) = delete;

    // Queues bytes [offset, offset + size) of a file to be copied to `to`, which must stay valid until finish().
    void read(std::uint32_t file, std::uint64_t offset, std::uint64_t size, std::byte* to);
    // Waits for everything queued that was not dropped and ends the threads: nothing can be read after it.
    // Returns the first error, or an empty string.
    std::string finish();
    // Drops what is not begun.
    void cancel();
    // Drops the pieces bound for [to, to + size) and waits for those being read: the memory is going away.
    void forget(const std::byte* to, std::uint64_t size);
    std::uint64_t bytes_queued() const { return queued_.load(std::memory_order_relaxed); }
    std::uint64_t bytes_done() const { return done_.load(std::memory_order_relaxed); }

  private:
    struct Piece {
        std::uint32_t file = 0;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        std::byte* to = nullptr;
    };
    void main(std::byte* bounce);
    void end_threads();
    std::string copy(std::vector<DirectFile>& files, std::byte* bounce, const Piece& piece);

    std::vector<std::string> paths_;
    bool direct_;
    std::atomic<std::uint64_t> queued_{0};
    std::atomic<std::uint64_t> done_{0};
    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable idle_;
    std::deque<Piece> pieces_;
    std::vector<const std::byte*> in_service_;  // where to, of the pieces being read
    std::string error_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace gannet
