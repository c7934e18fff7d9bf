#!/usr/bin/env bash
# The packages as a user meets them: in a fresh Debian 12 tree, as root. It installs and removes packages, so run it in a chroot or container.
# usage: fresh.sh FOLDER      FOLDER holds heddle_VERSION_ARCH.deb and heddle-VERSION-linux-ARCH.tar.gz; it takes five minutes, and follows the
# tutorial where it lies in a clone
set -uo pipefail
failed=0 count=0
export DEBIAN_FRONTEND=noninteractive
packages=${1:?usage: fresh.sh FOLDER}
work=$(mktemp -d)
chmod 755 "$work"
cp "$packages"/heddle_*.deb "$packages"/heddle-*.tar.gz "$work" || exit 1
deb=$(echo "$work"/heddle_*.deb) archive=$(echo "$work"/heddle-*.tar.gz)
chmod 644 "$deb" "$archive"

# check TEXT COMMAND...: the command ends with 0
check() {
  local begun=$EPOCHREALTIME text=$1 status=0
  shift
  ((++count))
  "$@" >"$work/log" 2>&1 || { status=$? && failed=1; }
  printf '%s %5.1f s  %s\n' "$( ((status == 0)) && echo ok || echo FAILED)" "$(awk "BEGIN {print $EPOCHREALTIME - $begun}")" "$text"
  ((status == 0)) || { echo "exit $status" && tail -20 "$work/log"; }
}
# says CODE TEXT COMMAND...: the command ends with this code, and what it prints contains the text
says() {
  local code=$1 text=$2 status=0 out
  shift 2
  out=$("$@" 2>&1) || status=$?
  [[ $status == "$code" && $out == *"$text"* ]] || { echo "exit $status, expected $code and '$text'; it said: $out" && return 1; }
}
sums() { find "$1" -type f -exec sha256sum {} + | sort; }

# learns FOLDER PROGRAM: trains there, and predicts what a drawn one is
cat >"$work/learns" <<'END'
#!/bin/bash
set -euo pipefail
mkdir -p "$1" && cd "$1"
"$2" train digits_cnn --epochs 1 --save w.safetensors --json >train.json
awk 'BEGIN {for (i = 0; i < 784; ++i) printf "%s%d", i ? "," : "", (i % 28 > 12 && i % 28 < 16 && i > 112 && i < 672) ? 255 : 0; print ""}' >one.csv
"$2" predict digits_cnn --weights w.safetensors --in one.csv --top 1 >answer.json
grep '"index": 1,' answer.json
END
chmod +x "$work/learns"
learns=$work/learns
as_user() { setpriv --reuid=reader --regid=reader --clear-groups env -i HOME=/home/reader PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"; }
read_only_usr() { mount --bind /usr /usr && mount -o remount,ro,bind /usr && ! touch /usr/bin/heddle && as_user "$@"; }
export -f as_user read_only_usr

check "apt installs the package with what it depends on" sh -c "apt-get update -q && apt-get install -y -q --no-install-recommends '$deb'"
useradd -m reader
check "it starts" says 0 "heddle " heddle --version
check "all that it needs to run is there" heddle doctor
check "root trains and predicts" "$learns" "$work/root" heddle
check "and again, with what was compiled" "$learns" "$work/root" heddle
sums /usr/share/heddle >"$work/models"
check "another user does, with /usr mounted read-only" unshare --mount bash -c "read_only_usr '$learns' /home/reader/work heddle"
check "without HOME" env -u HOME "$learns" "$work/homeless" heddle
check "with a HOME that is not there and cannot be made" as_user HOME=/nowhere/at/all "$learns" /home/reader/nowhere heddle
check "with a HOME that cannot be written" as_user HOME=/usr/share "$learns" /home/reader/denied heddle
check "which is said" says 0 "kernels' is not used, it cannot be made: Permission denied" as_user HOME=/usr/share heddle bench tiny_mlp --seconds 0.01
check "in a locale that is not there" env LC_ALL=xx_YY.UTF-8 "$learns" "$work/locale" heddle
check "a Turkish locale is made" sh -c "apt-get install -y -q --no-install-recommends locales && localedef -i tr_TR -f UTF-8 tr_TR.UTF-8"
check "which writes 0,5 and has another i" env LC_ALL=tr_TR.UTF-8 HEDDLE_CACHE="$work/turkish_cache" "$learns" "$work/turkish" heddle
check "and the weights are the same" cmp "$work/turkish/w.safetensors" "$work/root/w.safetensors"

# Compilers: none, and clang++ alone. The folder has the few programs that a shell needs.
mkdir -p "$work/bin"
for program in bash sh awk mkdir grep ld; do ln -s "$(command -v $program)" "$work/bin/$program"; done
ln -s /usr/bin/heddle "$work/bin/heddle"
check "without a compiler it says so and ends with 3" says 3 "no C++ compiler found" env PATH="$work/bin" HEDDLE_CACHE="$work/none" heddle train digits_cnn --device host
check "what needs no compiler works without one" says 0 "no fault found" env PATH="$work/bin" heddle check digits_cnn
check "apt installs clang" apt-get install -y -q --no-install-recommends clang
ln -s /usr/bin/clang++ "$work/bin/clang++"
check "clang++ alone will do" env PATH="$work/bin" HEDDLE_CACHE="$work/clang" "$learns" "$work/with_clang" heddle

check "apt installs cmake" apt-get install -y -q --no-install-recommends cmake make
check "a program finds the library" sh -c "cmake -S /usr/share/doc/heddle/example -B '$work/example' -DCMAKE_BUILD_TYPE=Release && cmake --build '$work/example'"
check "and trains and predicts with it" says 0 "a 1, with probability" "$work/example/example" /usr/share/heddle/models/digits_cnn.json "$work/example/w.safetensors"
check "bash completes" says 0 "train" bash -c '. /usr/share/bash-completion/completions/heddle && COMP_WORDS=(heddle tr) COMP_CWORD=1 && _heddle heddle && echo "${COMPREPLY[@]}"'
documents=$(dirname "$(readlink -f "$0")")/../docs/check_docs.py
if [[ -e $documents ]]; then
  check "apt installs python3" apt-get install -y -q --no-install-recommends python3
  check "the tutorial's commands do what it says" env HEDDLE=/usr/bin/heddle python3 "$documents" shell docs/tutorial.md
fi
check "nothing of the package was changed" dpkg --verify heddle
check "nothing was written among the models" sh -c "find /usr/share/heddle -type f -exec sha256sum {} + | sort | cmp - '$work/models'"

# An older version, this one over it, away with it: what users made stays.
check "an older version is made" sh -c "rm -rf '$work/old' && dpkg-deb -R '$deb' '$work/old' && sed -i 's/^Version: .*/Version: 0.0.1/' '$work/old/DEBIAN/control' &&
  mv '$work/old/usr/share/heddle/models/vae.json' '$work/old/usr/share/heddle/models/gone.json' &&
  (cd '$work/old' && find usr -type f -exec md5sum {} + >DEBIAN/md5sums) && dpkg-deb -Zgzip -z1 -b '$work/old' '$work/heddle_old.deb'"
check "it replaces this one when asked" apt-get install -y -q --allow-downgrades "$work/heddle_old.deb"
check "this one is installed over it" apt-get install -y -q "$deb"
check "with all of its files and none of the old" sh -c "test -e /usr/share/heddle/models/vae.json && test ! -e /usr/share/heddle/models/gone.json && dpkg --verify heddle"
find "$work/root" /home/reader /root/.cache/heddle -type f | sort >"$work/own"
check "it is removed and purged" sh -c "apt-get remove -y -q heddle && apt-get purge -y -q heddle"
check "what users made is there" sh -c "test -s '$work/own' && find '$work/root' /home/reader /root/.cache/heddle -type f | sort | cmp - '$work/own'"
check "nothing of it is left" sh -c "! find / -xdev -path '$work' -prune -o -path /root -prune -o -path /home -prune -o -path /var/cache -prune -o -path '$(realpath "$packages")' -prune -o -path /proc -prune -o -path /tmp -prune -o -name '*heddle*' -print | grep ."

# The archive, with the libraries that the package had brought.
check "the archive is unpacked by a user" as_user sh -c "mkdir ~/a && tar xzf '$archive' -C ~/a"
folder=$(echo /home/reader/a/heddle-*)
sums /home/reader/a >"$work/archive"
chmod -R a-w "$folder"
check "and trains and predicts there" as_user "$learns" /home/reader/archive "$folder/bin/heddle"
mv /home/reader/a /home/reader/b
check "and does when it was moved" as_user "$learns" /home/reader/archive "/home/reader/b/${folder##*/}/bin/heddle"
mv /home/reader/b /home/reader/a
check "nothing was written into it" sh -c "find /home/reader/a -type f -exec sha256sum {} + | sort | cmp - '$work/archive'"
check "a program finds the library in it" sh -c "cmake -S '$folder/share/doc/heddle/example' -B '$work/example2' -DCMAKE_PREFIX_PATH='$folder' -DCMAKE_BUILD_TYPE=Release && cmake --build '$work/example2'"
check "and trains and predicts with it" says 0 "a 1, with probability" "$work/example2/example" "$folder/share/heddle/models/digits_cnn.json" "$work/example2/w.safetensors"

rm -rf "$work"
echo "$count checks$( ((failed)) && echo ', with failures')"
exit $failed
