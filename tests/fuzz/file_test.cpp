// Mutated data files through the parsers of their formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/data/csv_file.h"
#include "runtime/data/idx.h"
#include "runtime/data/npy.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/picture.h"
#include "runtime/data/sound_file.h"
#include "runtime/data/zip.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/made_files.h"

namespace heddle::testing {
namespace {

TEST(Fuzz, IdxFiles) {
  const std::string images = idx_file(8, 1, {20, 5, 5}), labels = idx_file(8, 1, {20}),
                    floats = idx_file(13, 4, {4, 3});
  Campaign c{
      .name = "idx", .corpus = {images, labels, floats, gzip(images), gzip(labels)}, .binary = true, .target = {}};
  const MemoryFile file;
  c.target = [&](const std::string& content) {
    const std::string& path = file.holding(content);
    runtime::data::read_idx(path, "images", {});
    if (runtime::data::read_idx_header(path, "images", {}).dims.at(0) < 0) throw std::runtime_error("negative rows");
  };
  run(c, 1500);
}

TEST(Fuzz, NpyFiles) {
  const std::string floats = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4), }\n", 80),
                    turned = npy_file("{'descr': '>i2', 'fortran_order': False, 'shape': (7,), }\n", 14),
                    truths = npy_file("{'descr': '|b1', 'fortran_order': True, 'shape': (3,)}", 3);
  for (const bool binary : {true, false}) {
    Campaign c{.name = binary ? "npy" : "npy_text", .corpus = {floats, turned, truths}, .binary = binary, .target = {}};
    const MemoryFile file;
    c.target = [&](const std::string& content) {
      const runtime::data::Column column = runtime::data::read_npy(file.holding(content), "x", {});
      if (column.row_bytes() <= 0 || std::ssize(column.content()) % column.row_bytes() != 0)
        throw std::runtime_error("no whole rows");
    };
    run(c, 1500);
  }
}

TEST(Fuzz, ZipFiles) {
  const std::string floats = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4), }\n", 80);
  Campaign c{.name = "zip",
             .corpus = {zip_file({{"x.npy", floats}}), zip_file({{"x.npy", floats}}, true)},
             .binary = true,
             .target = {}};
  {  // what is not mutated is read
    const MemoryFile file;
    for (const std::string& whole : c.corpus) {
      const runtime::data::ZipArchive archive(file.holding(whole), "a", {});
      ASSERT_NE(archive.find("x.npy"), nullptr);
      EXPECT_EQ(archive.content(*archive.find("x.npy")).size(), floats.size());
    }
  }
  const MemoryFile file;
  c.target = [&](const std::string& content) {
    const runtime::data::ZipArchive archive(file.holding(content), "a", {});
    for (const runtime::data::ZipMember& m : archive.members())
      if (std::ssize(archive.content(m)) != m.size) throw std::runtime_error("another size than it says");
  };
  run(c, 1500);
}

TEST(Fuzz, Pictures) {
  Campaign c{.name = "picture", .corpus = {png_file(), jpeg_file()}, .binary = true, .target = {}};
  const MemoryFile file;
  c.target = [&](const std::string& content) {
    std::byte to[18];
    for (const int64_t channels : {1, 3})
      runtime::data::read_picture(file.holding(content), "p", {}, {.height = 2, .width = 3, .channels = channels}, to);
  };
  {  // what is not mutated is read
    std::byte to[6];
    runtime::data::read_picture(file.holding(png_file()), "p", {}, {.height = 2, .width = 3, .channels = 1}, to);
    EXPECT_EQ(std::to_integer<int>(to[5]), 6);
  }
  run(c, 1500);
}

// What can be read has as many samples as it says, all of them finite.
TEST(Fuzz, Sounds) {
  Campaign c{.name = "sound", .corpus = {wav_file()}, .binary = true, .target = {}};
  const MemoryFile file;
  c.target = [&](const std::string& content) {
    const runtime::data::Sound sound =
        runtime::data::read_sound(file.holding(content), "s.wav", {}, {.rate = 8000, .most = 100});
    if (std::ssize(sound.samples) != std::min<int64_t>(sound.size, 100)) throw std::runtime_error("other samples");
    for (const double x : sound.samples)
      if (!std::isfinite(x)) throw std::runtime_error("no number");
  };
  EXPECT_EQ(runtime::data::read_sound(file.holding(wav_file()), "s.wav", {}, {.rate = 8000, .most = 7}).samples.size(),
            7U);
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
    const MemoryFile file;
    c.target = [&](const std::string& content) {
      using runtime::data::ElementType;
      runtime::data::CsvFile csv(file.holding(content), "t.csv", {},
                                 {.delimiter = content.size() % 2 == 0 ? ',' : ';'});
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

}  // namespace
}  // namespace heddle::testing
