// Mutated data and weights files through their readers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "runtime/data/csv_file.h"
#include "runtime/data/idx.h"
#include "runtime/data/npy.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/picture.h"
#include "runtime/data/zip.h"
#include "runtime/temporary.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/run_log.h"
#include "runtime/weights/read_weights.h"
#include "runtime/weights/safetensors.h"
#include "tests/fuzz/campaign.h"

namespace heddle::testing {
namespace {

std::string idx_file(char type, size_t element, const std::vector<unsigned char>& dims) {
  std::string s{0, 0, type, static_cast<char>(dims.size())};
  size_t elements = 1;
  for (const unsigned char d : dims) {
    s += std::string{0, 0, 0, static_cast<char>(d)};
    elements *= d;
  }
  for (size_t i = 0; i < elements * element; ++i) s += static_cast<char>(i * 37);
  return s;
}

std::string gzip(const std::string& data) {
  std::string out(compressBound(data.size()) + 64, '\0');
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  z.avail_in = static_cast<uInt>(data.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string safetensors(const std::string& header, size_t data) {
  std::string s;
  for (size_t i = 0; i < 8; ++i) s += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return s + header + std::string(data, '\x3f');
}

// Every input becomes a file, in memory: a disk would make the campaign ten times slower.
class File {
 public:
  File() : descriptor_(memfd_create("fuzz", 0)), path_(fmt::format("/proc/self/fd/{}", descriptor_)) {
    EXPECT_GE(descriptor_, 0);
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& holding(const std::string& content) const {
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
      throw std::runtime_error("cannot write to memory");
    return path_;
  }
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

TEST(Fuzz, IdxFiles) {
  const std::string images = idx_file(8, 1, {20, 5, 5}), labels = idx_file(8, 1, {20}),
                    floats = idx_file(13, 4, {4, 3});
  Campaign c{
      .name = "idx", .corpus = {images, labels, floats, gzip(images), gzip(labels)}, .binary = true, .target = {}};
  const File file;
  c.target = [&](const std::string& content) {
    const std::string& path = file.holding(content);
    runtime::data::read_idx(path, "images", {});
    if (runtime::data::read_idx_header(path, "images", {}).dims.at(0) < 0) throw std::runtime_error("negative rows");
  };
  run(c, 1500);
}

std::string npy_file(const std::string& header, size_t bytes) {
  std::string s = "\x93NUMPY\x01";
  s += '\0';
  s += static_cast<char>(header.size());
  s += '\0';
  return s + header + std::string(bytes, '\x3f');
}

TEST(Fuzz, NpyFiles) {
  const std::string floats = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4), }\n", 80),
                    turned = npy_file("{'descr': '>i2', 'fortran_order': False, 'shape': (7,), }\n", 14),
                    truths = npy_file("{'descr': '|b1', 'fortran_order': True, 'shape': (3,)}", 3);
  for (const bool binary : {true, false}) {
    Campaign c{.name = binary ? "npy" : "npy_text", .corpus = {floats, turned, truths}, .binary = binary, .target = {}};
    const File file;
    c.target = [&](const std::string& content) {
      const runtime::data::Column column = runtime::data::read_npy(file.holding(content), "x", {});
      if (column.row_bytes() <= 0 || std::ssize(column.content()) % column.row_bytes() != 0)
        throw std::runtime_error("no whole rows");
    };
    run(c, 1500);
  }
}

// An archive of one stored member, as zipfile writes it.
std::string zip_file(const std::string& name, const std::string& content) {
  const auto number = [](uint64_t v, int width) {
    std::string s;
    for (int i = 0; i < width; ++i) s += i < 8 ? static_cast<char>(v >> (8 * i) & 0xff) : '\0';
    return s;
  };
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  const std::string sizes = number(crc, 4) + number(content.size(), 4) + number(content.size(), 4);
  const std::string header =
      "PK\x03\x04" + number(20, 2) + number(0, 8) + sizes + number(name.size(), 2) + number(0, 2) + name;
  const std::string entry = "PK\x01\x02" + number(20, 2) + number(20, 2) + number(0, 8) + sizes +
                            number(name.size(), 2) + number(0, 16) + name;
  return header + content + entry + "PK\x05\x06" + number(0, 4) + number(1, 2) + number(1, 2) +
         number(entry.size(), 4) + number(header.size() + content.size(), 4) + number(0, 2);
}

TEST(Fuzz, ZipFiles) {
  const std::string floats = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4), }\n", 80);
  Campaign c{.name = "zip", .corpus = {zip_file("x.npy", floats)}, .binary = true, .target = {}};
  {  // what is not mutated is read
    const File file;
    const runtime::data::ZipArchive archive(file.holding(c.corpus[0]), "a", {});
    ASSERT_NE(archive.find("x.npy"), nullptr);
    EXPECT_EQ(archive.content(*archive.find("x.npy")).size(), floats.size());
  }
  const File file;
  c.target = [&](const std::string& content) {
    const runtime::data::ZipArchive archive(file.holding(content), "a", {});
    for (const runtime::data::ZipMember& m : archive.members())
      if (std::ssize(archive.content(m)) != m.size) throw std::runtime_error("another size than it says");
  };
  run(c, 1500);
}

// A grey picture of 2 x 3 with the checksums that it needs, and the beginning of a JPEG.
TEST(Fuzz, Pictures) {
  const auto chunk = [](const std::string& kind, const std::string& content) {
    const auto number = [](uint64_t v) {
      std::string s;
      for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>(v >> shift & 0xff);
      return s;
    };
    const std::string body = kind + content;
    return number(content.size()) + body +
           number(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
  };
  std::string packed(100, '\0');
  uLongf size = packed.size();
  const std::string lines{0, 1, 2, 3, 0, 4, 5, 6};
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(lines.data()),
                     lines.size()),
            Z_OK);
  packed.resize(size);
  const std::string png = std::string("\x89PNG\r\n\x1a\n") + chunk("IHDR", {0, 0, 0, 3, 0, 0, 0, 2, 8, 0, 0, 0, 0}) +
                          chunk("IDAT", packed) + chunk("IEND", "");
  std::string jpeg = "\xff\xd8\xff\xdb";
  jpeg += std::string{0, 67, 0} + std::string(64, 1) + "\xff\xc0" + std::string{0, 11, 8, 0, 2, 0, 3, 1, 1, 17, 0};
  jpeg += "\xff\xc4" + std::string{0, 20, 0, 1} + std::string(15, 0) + std::string{0};
  jpeg += "\xff\xda" + std::string{0, 8, 1, 1, 0, 0, 63, 0} + std::string(4, '\x55') + "\xff\xd9";
  Campaign c{.name = "picture", .corpus = {png, jpeg}, .binary = true, .target = {}};
  const File file;
  c.target = [&](const std::string& content) {
    std::byte to[18];
    for (const int64_t channels : {1, 3})
      runtime::data::read_picture(file.holding(content), "p", {}, {.height = 2, .width = 3, .channels = channels}, to);
  };
  {  // what is not mutated is read
    std::byte to[6];
    runtime::data::read_picture(file.holding(png), "p", {}, {.height = 2, .width = 3, .channels = 1}, to);
    EXPECT_EQ(std::to_integer<int>(to[5]), 6);
  }
  run(c, 1500);
}

// Every field of every record, as text and as each type.
TEST(Fuzz, CsvFiles) {
  const std::string numbers = "a,b,\"c, d\"\n1,-2.5,3e-7\r\n\"4\",+5.0,NA\n\n,6.02e23,0.1\n",
                    words = "name;kind\n\"x\"\"y\";\"two\nlines\"\n1e400;18446744073709551616\n";
  for (const bool binary : {true, false}) {
    Campaign c{
        .name = binary ? "csv" : "csv_text", .corpus = {numbers, words, gzip(numbers)}, .binary = binary, .target = {}};
    if (!binary) c.corpus.pop_back();
    const File file;
    c.target = [&](const std::string& content) {
      using runtime::data::ElementType;
      runtime::data::CsvFile csv(file.holding(content), "t.csv", {}, content.size() % 2 == 0 ? ',' : ';');
      std::byte to[8];
      for (std::vector<runtime::data::CsvField> record; csv.next(record);)
        for (const runtime::data::CsvField& f : record)
          for (const ElementType type : {ElementType::u8, ElementType::i64, ElementType::f32, ElementType::f64})
            if (runtime::data::parse_number(f.text, type, to).empty() && f.text.empty())
              throw std::runtime_error("nothing is a number");
    };
    run(c, 1500);
  }
}

TEST(Fuzz, WeightsFiles) {
  const std::string two =
      R"({"a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"I64","shape":[],"data_offsets":[24,32]}})";
  const std::string meta =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F16","shape":[0],"data_offsets":[0,0]},"v":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})";
  for (const bool binary : {true, false}) {
    Campaign c{.name = binary ? "weights" : "weights_header", .corpus = {}, .binary = binary, .target = {}};
    c.corpus = binary ? std::vector<std::string>{safetensors(two, 32), safetensors(meta, 8)}
                      : std::vector<std::string>{two, meta};
    const File file;
    c.target = [&](const std::string& content) {
      const runtime::WeightsFile weights =
          runtime::read_safetensors(file.holding(binary ? content : safetensors(content, 32)));
      for (const runtime::SavedTensor& t : weights.tensors)
        if (weights.bytes(t).size() > weights.data.size()) throw std::runtime_error("bytes beyond the file");
      const runtime::WeightsFile taken = runtime::read_weights(file.path(), content.size() % 2 == 0 ? "a." : "").file;
      for (const runtime::SavedTensor& t : taken.tensors) {
        if (t.dtype == "f16" || t.dtype == "bf16" || t.dtype == "f64") throw std::runtime_error("not converted");
        taken.bytes(t);
      }
    };
    run(c, 1500);
  }
}

// What an earlier process left of a log, which a resumed run goes on with.
TEST(Fuzz, Logs) {
  const std::string log =
      "{\"event\": \"start\", \"model\": \"m\", \"at\": 0.1}\n{\"event\": \"step\", \"step\": 1, \"epoch\": 1, "
      "\"loss\": 2, \"at\": "
      "0.2}\n{\"event\": \"checkpoint\", \"step\": 1, \"file\": \"c\", \"at\": 0.3}\n{\"event\": \"epoch\", \"epoch\": "
      "1, \"step\": 2, "
      "\"at\": 1e300}\n";
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/log.jsonl";
  Campaign c{.name = "log", .corpus = {log}, .binary = true, .target = {}};
  c.target = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
    runtime::RunLog again(path);
    again.go_on(static_cast<int64_t>(content.size() * 2 / 3), static_cast<int64_t>(content.size() % 3), 0.5);
    again.event("resume", runtime::JsonObject().integer("step", 1));
    again.finish();
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!text.ends_with("}\n") || text.find("{\"event\": \"resume\"") == std::string::npos)
      throw std::runtime_error("the log does not go on");
  };
  run(c, 300);
}

// Checkpoints, whose checksum is made right again behind each mutation: else none would be read at all.
TEST(Fuzz, Checkpoints) {
  const auto sealed = [](std::string content) {
    constexpr size_t kSeal = 16;
    if (content.size() < kSeal) return content;
    XXH128_canonical_t seal;
    XXH128_canonicalFromHash(&seal, XXH3_128bits(content.data(), content.size() - kSeal));
    content.replace(content.size() - kSeal, kSeal, reinterpret_cast<const char*>(seal.digest), kSeal);
    return content;
  };
  const std::string header =
      R"({"__metadata__": {"heddle.checkpoint": "1", "heddle.step": "7", "heddle.epoch": "2", "heddle.step_of_epoch": "1", )"
      R"("heddle.seconds": "0.5", "heddle.epochs_without_better": "1", "heddle.best.value": "nan", "heddle.best.epoch": "1", )"
      R"("heddle.best.step": "3"}, "w": {"dtype": "F32", "shape": [2,2], "data_offsets": [0,16]}, )"
      R"("heddle/train/loss": {"dtype": "F64", "shape": [], "data_offsets": [16,24]}, )"
      R"("heddle/validation/f1": {"dtype": "F64", "shape": [2], "data_offsets": [24,40]}, )"
      R"("heddle/best/w": {"dtype": "F32", "shape": [2,2], "data_offsets": [40,56]}, )"
      R"("heddle/checksum": {"dtype": "U8", "shape": [16], "data_offsets": [56,72]}})";
  const std::string whole = sealed(safetensors(header, 72));
  const File file;
  EXPECT_EQ(runtime::read_checkpoint(file.holding(whole)).state.steps, 7);  // what is not mutated is read
  for (const bool binary : {true, false}) {
    Campaign c{.name = binary ? "checkpoint" : "checkpoint_text", .corpus = {whole}, .binary = binary, .target = {}};
    c.target = [&](const std::string& content) {
      const runtime::Checkpoint read = runtime::read_checkpoint(file.holding(sealed(content)));
      if (read.state.steps < 0 || read.state.epochs < 0 || read.state.step_of_epoch < 0)
        throw std::runtime_error("a negative position");
      for (const runtime::SavedTensor& t : read.file.tensors) read.file.bytes(t);
    };
    run(c, 1500);
  }
}

}  // namespace
}  // namespace heddle::testing
