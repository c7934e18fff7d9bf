#pragma once
// Data maps that compute a pixel from several pixels of the picture before them. `pixel(y, x, c)` returns a pixel of
// that picture; a map calls it for positions inside the picture. Random values are functions of the four words that are
// drawn for the map and the row.
namespace hd {
// More random words, after the first four.
HD_DEVICE Words more_words(const Words& w, int n) {
  return philox((i64)((u64)w.y << 32 | w.x), (i64)n, 0x6d6f7265, (i64)((u64)w.w << 32 | w.z));
}
HD_DEVICE float between(u32 word, float low, float high) { return low + (high - low) * unit<float>(word); }

struct Window {
  int top, left, height, width;
};
// A random window. Its share of the area is in [`least`, `most`], and the logarithm of its aspect ratio is in
// [`narrow`, `wide`]. Of ten candidates the first one that fits into the picture is taken. `across`: the ratio is width
// to height, and a side of the window may be as long as the picture's.
HD_DEVICE Window drawn_window(const Words& words, int height, int width, float least, float most, float narrow, float wide, bool across) {
  for (int tried = 0; tried < 10; ++tried) {
    const Words w = more_words(words, tried);
    const float area = (float)height * (float)width * between(w.x, least, most), ratio = exp(between(w.y, narrow, wide));
    const float longer = rint(sqrt(area * ratio)), shorter = rint(sqrt(area / ratio)), most_sides = across ? 0.0f : 1.0f;
    const float down = across ? shorter : longer, along = across ? longer : shorter;
    if (down < 1.0f || along < 1.0f || down > (float)height - most_sides || along > (float)width - most_sides) continue;
    const int h = (int)down, v = (int)along;
    return {below(w.z, height - h + 1), below(w.w, width - v + 1), h, v};
  }
  return {0, 0, 0, 0};
}
// The window; if none was found, the middle of the picture with the nearest allowed ratio.
HD_DEVICE Window window_or_middle(const Window& window, int height, int width, float narrow, float wide) {
  if (window.height > 0) return window;
  const float ratio = (float)width / (float)height, low = exp(narrow), high = exp(wide);
  Window w = {0, 0, height, width};
  if (ratio < low) w.height = (int)max(rint((float)width / low), 1.0f);
  if (ratio > high) w.width = (int)max(rint((float)height * high), 1.0f);
  w.top = (height - w.height) / 2, w.left = (width - w.width) / 2;
  return w;
}

// Pixel (y, x) of the window resized to `height` x `width`. The corners of the outer pixels are aligned, not their
// centers.
template <class T, class F>
HD_DEVICE T resized(const F& pixel, const Window& w, int height, int width, bool nearest, int y, int x, int c) {
  const float down = (float)w.height / (float)height, along = (float)w.width / (float)width;
  if (nearest)
    return pixel(w.top + min((int)((float)y * down), w.height - 1), w.left + min((int)((float)x * along), w.width - 1), c);
  const float at_y = max(((float)y + 0.5f) * down - 0.5f, 0.0f), at_x = max(((float)x + 0.5f) * along - 0.5f, 0.0f);
  const int top = min((int)at_y, w.height - 1), left = min((int)at_x, w.width - 1);
  const float low = at_y - (float)top, right = at_x - (float)left;
  T sum = T(0);
  for (int i = 0; i < 4; ++i) {
    const int py = min(top + i / 2, w.height - 1), px = min(left + i % 2, w.width - 1);
    const float weight = (i / 2 == 0 ? 1.0f - low : low) * (i % 2 == 0 ? 1.0f - right : right);
    sum += (T)weight * pixel(w.top + py, w.left + px, c);
  }
  return sum;
}

// The source position of a pixel of a rotated picture, relative to the middle: y = yy y + yx x + down, x = xy y + xx x
// + right.
struct Turn {
  float yy, yx, down, xy, xx, right;
};
// The inverse of this transform: shear along x by `shear`, rotate clockwise by `angle` (both in degrees), enlarge by
// `scale`, move down and right.
HD_DEVICE Turn inverse_turn(float angle, float shear, float scale, float down, float right) {
  const float turn = angle * 0.017453293f, cosine = cos(turn), sine = sin(turn), skew = tan(shear * 0.017453293f), over = 1.0f / scale;
  Turn t = {cosine * over, -sine * over, 0.0f, (sine + skew * cosine) * over, (cosine - skew * sine) * over, 0.0f};
  t.down = -(t.yy * down + t.yx * right), t.right = -(t.xy * down + t.xx * right);
  return t;
}
template <class T, class F>
HD_DEVICE T turned(const F& pixel, const Turn& t, int height, int width, bool nearest, T fill, int y, int x, int c) {
  const float middle_y = 0.5f * (float)height - 0.5f, middle_x = 0.5f * (float)width - 0.5f;
  const float from_y = (float)y - middle_y, from_x = (float)x - middle_x;
  // Positions far outside are clamped just outside, so that an int holds them.
  const float at_y = min(max(t.yy * from_y + t.yx * from_x + t.down + middle_y, -2.0f), (float)height + 1.0f),
              at_x = min(max(t.xy * from_y + t.xx * from_x + t.right + middle_x, -2.0f), (float)width + 1.0f);
  if (nearest) {
    const int py = (int)rint(at_y), px = (int)rint(at_x);
    return py >= 0 && py < height && px >= 0 && px < width ? pixel(py, px, c) : fill;
  }
  const float top = floor(at_y), left = floor(at_x), low = at_y - top, along = at_x - left;
  T sum = T(0);
  for (int i = 0; i < 4; ++i) {
    const int py = (int)top + i / 2, px = (int)left + i % 2;
    const float weight = (i / 2 == 0 ? 1.0f - low : low) * (i % 2 == 0 ? 1.0f - along : along);
    const bool inside = py >= 0 && py < height && px >= 0 && px < width;
    sum += (T)weight * (inside ? pixel(py, px, c) : fill);
  }
  return sum;
}

// ITU-R BT.601's luminance.
template <class T>
HD_DEVICE T grey_of(T red, T green, T blue) {
  return T(0.299) * red + T(0.587) * green + T(0.114) * blue;
}
template <class T, class F>
HD_DEVICE T grey_pixel(const F& pixel, int y, int x) {
  return grey_of<T>(pixel(y, x, 0), pixel(y, x, 1), pixel(y, x, 2));
}

template <class T>
HD_DEVICE T within(T x, T white) {
  return min(max(x, T(0)), white);
}
// Interpolates between `other` (share 0) and x (share 1); larger shares extrapolate.
template <class T>
HD_DEVICE T blend(T x, T other, float share, T white) {
  return within<T>((T)share * x + (T)(1.0f - share) * other, white);
}
// Channel c of a colour whose hue is shifted by `by` turns; saturation and value stay (Smith 1978,
// doi:10.1145/965139.807361).
template <class T>
HD_DEVICE T turned_hue(T red, T green, T blue, float by, int c) {
  const T high = max(max(red, green), blue), low = min(min(red, green), blue), range = high - low;
  if (!(range > T(0))) return c == 0 ? red : c == 1 ? green : blue;
  const T sixth = high == red ? (green - blue) / range : high == green ? T(2) + (blue - red) / range : T(4) + (red - green) / range;
  // Red is at 0, green at 2, blue at 4 of 6: a channel falls off from 1 to 2 away from where it is highest.
  T away = sixth + T(6) * (T)by - T(2 * c);
  away = away - T(6) * floor((away + T(3)) / T(6));
  return low + range * within<T>(T(2) - (away < T(0) ? -away : away), T(1));
}

struct Jitter {
  float brightness, contrast, saturation, hue;
};
// A random factor in [1 - reach, 1 + reach], cut at 0 from below.
HD_DEVICE float factor(u32 word, float reach) { return reach > 0.0f ? between(word, max(1.0f - reach, 0.0f), 1.0f + reach) : 1.0f; }
HD_DEVICE Jitter drawn_jitter(const Words& w, float brightness, float contrast, float saturation, float hue) {
  return {factor(w.x, brightness), factor(w.y, contrast), factor(w.z, saturation), between(w.w, -hue, hue)};
}
// The grey value after the change of brightness. The change of contrast uses its mean over the picture.
template <class T, int channels, class F>
HD_DEVICE T bright_grey(const F& pixel, const Jitter& j, T white, int y, int x) {
  const auto bright = [&](int c) { return within<T>((T)j.brightness * pixel(y, x, c), white); };
  if constexpr (channels == 3) return grey_of<T>(bright(0), bright(1), bright(2));
  else return bright(0);
}
// Applies brightness, contrast, saturation and hue, in this order.
template <class T, int channels, class F>
HD_DEVICE T jittered(const F& pixel, const Jitter& j, T mean, T white, bool contrast, bool hue, int y, int x, int c) {
  const auto seen = [&](int channel) {
    const T bright = within<T>((T)j.brightness * pixel(y, x, channel), white);
    return contrast ? blend<T>(bright, mean, j.contrast, white) : bright;
  };
  if constexpr (channels != 3) {
    return seen(c);
  } else {
    const T r = seen(0), g = seen(1), b = seen(2), grey = grey_of<T>(r, g, b);
    const T red = blend<T>(r, grey, j.saturation, white), green = blend<T>(g, grey, j.saturation, white),
            blue = blend<T>(b, grey, j.saturation, white);
    if (hue) return turned_hue<T>(red, green, blue, j.hue, c);
    return c == 0 ? red : c == 1 ? green : blue;
  }
}

// The weights of a Gaussian of `size` pixels.
template <int size>
struct Gaussian {
  float weight[size];
  HD_DEVICE explicit Gaussian(float sigma) {
    float sum = 0.0f;
    for (int i = 0; i < size; ++i) {
      const float away = (float)(i - size / 2) / sigma;
      sum += weight[i] = exp(-0.5f * away * away);
    }
    for (int i = 0; i < size; ++i) weight[i] /= sum;
  }
};
// Reflects a position outside of the picture into it, without repeating the border pixels.
HD_DEVICE int mirrored(int at, int side) { return at < 0 ? -at : at >= side ? 2 * side - 2 - at : at; }
template <class T, int size, class F>
HD_DEVICE T blurred(const F& pixel, const Gaussian<size>& g, int height, int width, int y, int x, int c) {
  T sum = T(0);
  for (int i = 0; i < size; ++i) {
    const int py = mirrored(y + i - size / 2, height);
    T line = T(0);
    for (int j = 0; j < size; ++j) line += (T)g.weight[j] * pixel(py, mirrored(x + j - size / 2, width), c);
    sum += (T)g.weight[i] * line;
  }
  return sum;
}
}  // namespace hd
