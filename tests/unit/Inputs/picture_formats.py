"""Writes small WebP, TIFF and GIF pictures, and the pixels that Pillow reads from them: picture_formats.py

It needs Pillow, and writes the folder picture_formats beside it: picture_formats_test.cpp reads the pictures and pixels.txt, a line for each:
file, height, width, and the rows' red, green and blue in hex, what is transparent drawn on black. Pillow writes what it can. The rest is
made here, byte by byte, and read by Pillow all the same.
"""
import io
import pathlib
import struct
import zlib

from PIL import Image, ImageOps

FOLDER = pathlib.Path(__file__).with_suffix("")
WIDTH, HEIGHT = 13, 9
PLACES = [(x, y) for y in range(HEIGHT) for x in range(WIDTH)]


def pixels_of(picture):
    return list(zip(*(band.tobytes() for band in picture.split())))


def colour(x, y):
    return (x * 19 + y * 3) % 256, (y * 27 + x * x) % 256, 255 - (x * 11 + y * 13) % 256


def image(mode, value):
    made = Image.new(mode, (WIDTH, HEIGHT))
    made.putdata([value(x, y) for x, y in PLACES])
    return made


rgb = image("RGB", colour)
rgba = image("RGBA", lambda x, y: (*colour(x, y), (x * 40 + y * 5) % 256))
grey = image("L", lambda x, y: (x * 20 + y * 7) % 256)
grey_alpha = image("LA", lambda x, y: ((x * 20 + y * 7) % 256, (y * 31) % 256))
bits = image("1", lambda x, y: 255 * ((x * y + x) % 3 == 0))
coloured = rgb.quantize(16)


def write(name, content):
    (FOLDER / name).write_bytes(content)


def encoded(picture, kind, **options):
    to = io.BytesIO()
    picture.save(to, kind, **options)
    return to.getvalue()


def save(name, picture, **options):
    kind = {"webp": "WEBP", "tif": "TIFF", "gif": "GIF"}[name.rsplit(".", 1)[1]]
    write(name, encoded(picture, kind, **options))


def turned(orientation):
    exif = Image.Exif()
    exif[0x112] = orientation
    return exif


# --- WebP ---


def chunk(kind, content):
    return kind + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def riff(*chunks):
    return b"RIFF" + struct.pack("<I", 4 + sum(map(len, chunks))) + b"WEBP" + b"".join(chunks)


def of_24(value):
    return struct.pack("<I", value)[:3]


save("lossy.webp", rgb, quality=75)
save("lossy_low.webp", rgb, quality=10)
save("lossy_alpha.webp", rgba, quality=80)
save("lossy_odd.webp", rgb.resize((33, 21), Image.BILINEAR), quality=75)
save("lossless.webp", rgb, lossless=True)
save("lossless_alpha.webp", rgba, lossless=True, exact=True)
save("turned.webp", rgb, lossless=True, exif=turned(6))
save("animated.webp", rgba, lossless=True, save_all=True, append_images=[rgba.rotate(180)] * 3, duration=40)
# A first frame that lies in the middle of a canvas of 20 x 14.
frame = of_24(2) + of_24(1) + of_24(WIDTH - 1) + of_24(HEIGHT - 1) + of_24(50) + b"\0" + encoded(rgba, "WEBP", lossless=True)[12:]
write("offset.webp", riff(chunk(b"VP8X", b"\x12\0\0\0" + of_24(19) + of_24(13)), chunk(b"ANIM", bytes([9, 99, 199, 255, 0, 0])), chunk(b"ANMF", frame)))

# --- TIFF ---


def tiff(tags, pieces, order="<", big=False):
    """`tags`: number -> list of shorts; `pieces`: strips, or tiles where there is a tag 322."""
    tags = {256: [WIDTH], 257: [HEIGHT], 259: [1], **tags}
    tiled, offsets, content, word = 322 in tags, [], b"", "Q" if big else "I"
    start = 16 if big else 8
    for piece in pieces:
        offsets.append(start + len(content))
        content += piece + bytes(len(piece) % 2)
    fields = {number: (3, "H", values) for number, values in tags.items()}
    fields[324 if tiled else 273] = (4, "I", offsets)
    fields[325 if tiled else 279] = (4, "I", [len(p) for p in pieces])
    if not tiled and 278 not in fields:
        fields[278] = (3, "H", tags[257])
    directory, room = b"", struct.calcsize(word)
    for number in sorted(fields):
        kind, letter, values = fields[number]
        value = struct.pack(f"{order}{len(values)}{letter}", *values)
        if len(value) > room:
            at = start + len(content)
            content += value + bytes(len(value) % 2)
            value = struct.pack(order + word, at)
        directory += struct.pack(f"{order}HH{word}", number, kind, len(values)) + value.ljust(room, b"\0")
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + ("HHH" if big else "H"), *([43, 8, 0] if big else [42]))
    return head + struct.pack(order + word, start + len(content)) + content + struct.pack(order + ("Q" if big else "H"), len(fields)) + directory + bytes(room)


def packed(values, width):
    """Rows of `width` bits a value, each row in whole bytes."""
    rows = b""
    for y in range(HEIGHT):
        text = "".join(f"{v:0{width}b}" for v in values[y * WIDTH : (y + 1) * WIDTH])
        text += "0" * (-len(text) % 8)
        rows += int(text, 2).to_bytes(len(text) // 8, "big")
    return rows


def tiles(picture, side=16):
    return [picture.crop((x, y, x + side, y + side)).tobytes() for y in range(0, picture.height, side) for x in range(0, picture.width, side)]


def of_16(values, order):
    return struct.pack(f"{order}{len(values)}H", *values)


RGB = {258: [8, 8, 8], 262: [2], 277: [3]}
deep = [(v * 251 + i * 7) % 65536 for i, v in enumerate(rgb.tobytes())]
raw = rgb.tobytes()
for name, compression in {"raw": None, "lzw": "tiff_lzw", "deflate": "tiff_adobe_deflate", "old_deflate": "tiff_deflate", "packbits": "packbits", "zstd": "zstd", "lzma": "lzma"}.items():
    save(f"{name}.tif", rgb, compression=compression)
save("lzw_predicted.tif", rgb, compression="tiff_lzw", tiffinfo={317: 2})
save("jpeg.tif", rgb, compression="jpeg", quality=90)
save("jpeg_grey.tif", grey, compression="jpeg")
save("rgba.tif", rgba, compression="tiff_lzw")
save("grey.tif", grey)
save("grey_alpha.tif", grey_alpha)
save("palette.tif", coloured, compression="packbits")
save("bits.tif", bits)
save("group3.tif", bits, compression="group3")
save("group4.tif", bits, compression="group4")
save("pages.tif", rgb, save_all=True, append_images=[grey, rgba])
for orientation in range(1, 9):
    save(f"turned_{orientation}.tif", rgb, tiffinfo={274: orientation})
write("strips.tif", tiff({**RGB, 278: [2]}, [raw[i : i + 2 * 3 * WIDTH] for i in range(0, len(raw), 2 * 3 * WIDTH)]))
write("big_endian.tif", tiff(RGB, [raw], order=">"))
write("big.tif", tiff(RGB, [raw], big=True))
write("planes.tif", tiff({**RGB, 284: [2]}, [raw[c::3] for c in range(3)]))
write("planes_deflate.tif", tiff({**RGB, 259: [8], 284: [2]}, [zlib.compress(raw[c::3]) for c in range(3)]))
large = image("RGB", colour).resize((37, 21), Image.NEAREST)
write("tiles.tif", tiff({**RGB, 256: [37], 257: [21], 322: [16], 323: [16]}, tiles(large)))
write("tiles_deflate.tif", tiff({**RGB, 256: [37], 257: [21], 259: [8], 322: [16], 323: [16]}, [zlib.compress(t) for t in tiles(large)]))
write("tiles_palette.tif", tiff({258: [8], 262: [3], 320: [(i * k) % 256 * 257 for k in (1, 2, 5) for i in range(256)], 322: [16], 323: [16]}, tiles(grey)))
for order, name in {"<": "deep", ">": "deep_big_endian"}.items():
    write(f"{name}.tif", tiff({258: [16] * 3, 262: [2], 277: [3]}, [of_16(deep, order)], order))
write("deep_alpha.tif", tiff({258: [16] * 4, 262: [2], 277: [4], 338: [2]}, [of_16([v for i in range(0, len(deep), 3) for v in (*deep[i : i + 3], i * 97 % 65536)], "<")]))
write("deep_grey.tif", tiff({258: [16], 262: [1], 277: [1]}, [of_16(deep[::3], "<")]))
write("deep_white.tif", tiff({258: [8], 262: [0], 277: [1]}, [grey.tobytes()]))
write("four_bits.tif", tiff({258: [4], 262: [1], 277: [1]}, [packed([v // 16 for v in grey.tobytes()], 4)]))
write("two_bits.tif", tiff({258: [2], 262: [1], 277: [1]}, [packed([v // 64 for v in grey.tobytes()], 2)]))
write("white_is_zero.tif", tiff({258: [1], 262: [0], 277: [1]}, [packed([v // 128 for v in grey.tobytes()], 1)]))
write("four_bit_palette.tif", tiff({258: [4], 262: [3], 277: [1], 320: [(i * k) % 256 * 257 for k in (16, 7, 5) for i in range(16)]}, [packed([v // 16 for v in grey.tobytes()], 4)]))
write("spare.tif", tiff({258: [8] * 4, 262: [2], 277: [4], 338: [0]}, [rgba.tobytes()]))
write("no_extra.tif", tiff({258: [8] * 4, 262: [2], 277: [4]}, [rgba.tobytes()]))
write("palette_8.tif", tiff({258: [8], 262: [3], 277: [1], 320: [i * k % 65536 for k in (257, 3000, 40000) for i in range(256)]}, [grey.tobytes()]))
# For each 2 x 2 pixels four of luminance and one of each colour.
write("ycbcr.tif", tiff({256: [12], 257: [8], 258: [8] * 3, 259: [8], 262: [6], 277: [3], 530: [2, 2]}, [zlib.compress(bytes((i * 37 + i * i) % 256 for i in range(6 * 4 * 6)))]))
write("ycbcr_full.tif", tiff({258: [8] * 3, 259: [8], 262: [6], 277: [3], 530: [1, 1]}, [zlib.compress(raw)]))
save("ycbcr_jpeg.tif", rgb.convert("YCbCr"), compression="jpeg", quality=60)
premultiplied = bytes(v * a // 255 if i < 3 else a for *c, a in pixels_of(rgba) for i, v in enumerate((*c, a)))
write("premultiplied.tif", tiff({258: [8] * 4, 262: [2], 277: [4], 338: [1]}, [premultiplied]))
write("bits_from_right.tif", tiff({258: [1], 262: [1], 266: [2], 277: [1]}, [bytes(int(f"{b:08b}"[::-1], 2) for b in bits.tobytes())]))

# --- GIF ---

save("palette.gif", coloured, interlace=0)
save("colours_256.gif", rgb.resize((20, 18)).quantize(256), interlace=0)
save("interlaced.gif", rgb.resize((20, 18)).quantize(64), interlace=1)
save("grey.gif", grey, interlace=0)
save("bits.gif", bits, interlace=0)
save("transparent.gif", coloured, transparency=3, interlace=0)
save("animated.gif", coloured, save_all=True, append_images=[coloured.rotate(180), coloured.rotate(90)], interlace=0)


def gif(screen, offset, transparent=None, local=True, interlaced=False, table=True):
    """One picture by codes of 9 bits that are never joined: a clear code before every 200 values."""
    colours = bytes(v for i in range(256) for v in (i * 3 % 256, i * 5 % 256, 255 - i))
    rows = [grey.tobytes()[y * WIDTH : (y + 1) * WIDTH] for y in range(HEIGHT)]
    if interlaced:
        rows = [rows[y] for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, HEIGHT, step)]
    codes = [256] + list(b"".join(rows)) + [257]
    stream = sum(code << 9 * i for i, code in enumerate(codes)).to_bytes((9 * len(codes) + 7) // 8, "little")
    head = b"GIF89a" + struct.pack("<HHBBB", *screen, 0xF7 if table and not local else 0x70, 7, 0) + (colours if table and not local else b"")
    control = b"" if transparent is None else b"\x21\xf9\4" + bytes([1, 0, 0, transparent, 0])
    descriptor = b"," + struct.pack("<HHHHB", *offset, WIDTH, HEIGHT, (0x87 if table and local else 0) | (0x40 if interlaced else 0))
    return head + control + descriptor + (colours if table and local else b"") + b"\x08" + bytes([len(stream)]) + stream + b"\0;"


write("local_palette.gif", gif((WIDTH, HEIGHT), (0, 0)))
write("interlaced_by_hand.gif", gif((WIDTH, HEIGHT), (0, 0), interlaced=True))
write("offset.gif", gif((20, 14), (4, 3)))
write("offset_global.gif", gif((20, 14), (4, 3), local=False))
write("offset_transparent.gif", gif((20, 14), (4, 3), transparent=100))
write("outside.gif", gif((10, 7), (2, 1)))
write("no_palette.gif", gif((WIDTH, HEIGHT), (0, 0), table=False))

# --- What Pillow reads ---

lines = []
for path in sorted(FOLDER.glob("*.*")):
    if path.suffix not in (".webp", ".tif", ".gif"):
        continue
    with Image.open(path) as picture:
        picture.load()
        shown = ImageOps.exif_transpose(picture)
        if shown.mode.startswith("I;16"):  # little-endian, but of "I;16B"
            shown = Image.frombytes("L", shown.size, shown.tobytes()[0 if shown.mode.endswith("B") else 1 :: 2])
        if shown.mode in ("RGBA", "LA", "PA") or "transparency" in shown.info:
            shown = shown.convert("RGBA")
            black = Image.new("RGB", shown.size)
            black.paste(shown, mask=shown.getchannel("A"))
            shown = black
        if path.stem == "premultiplied":  # which Pillow divides by the opacity, and we multiply again
            shown = Image.frombytes("RGB", shown.size, bytes(v for i, v in enumerate(premultiplied) if i % 4 < 3))
        lines.append(f"{path.name} {shown.height} {shown.width} {shown.convert('RGB').tobytes().hex()}\n")
(FOLDER / "pixels.txt").write_text("".join(lines))
