#!/usr/bin/env bash
# Builds and runs the outside project one way: run.sh WAY (see below)
# BUILD is the build folder to take the libraries from, CXX the compiler, CMAKE the cmake to use.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$BUILD/package-test
prefix=$work/prefix
folder=$work/$1

case "$1" in
    install)
        rm -rf "$work"
        mkdir -p "$work"
        "$CMAKE" --install "$BUILD" --prefix "$work/first" >/dev/null
        # A package must bear being moved.
        mv "$work/first" "$prefix"
        if grep -rl --include=*.cmake --include=*.pc --include=*.hpp -e "$(realpath "$here/../..")" "$prefix"; then
            echo "the files above name folders of the machine that built them" >&2
            exit 1
        fi
        for page in man/man1/shove.1 bash-completion/completions/shove zsh/site-functions/_shove \
            fish/vendor_completions.d/shove.fish; do
            [ -s "$prefix/share/$page" ] || { echo "share/$page is not installed" >&2; exit 1; }
        done
        exit 0 ;;
    find_package | codecs | rabbitmq | kafka)
        "$CMAKE" -S "$here/$1" -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_PREFIX_PATH="$prefix"
        "$CMAKE" --build "$folder" ;;
    pkg_config | rabbitmq_pkg_config)
        source=$here/main.cpp
        libraries="shove-sqlite shove-open"
        [ "$1" = pkg_config ] || { source=$here/rabbitmq/main.cpp libraries=shove-rabbitmq; }
        mkdir -p "$folder"
        modules=$(dirname "$(find "$prefix" -name shove-core.pc)")
        export PKG_CONFIG_PATH=$modules
        static=--static
        [ ! -e "$modules/../libshove-core.so" ] || static=
        make -C "$folder" -f "$here/pkg_config/Makefile" SOURCE="$source" MODULES="$libraries" STATIC=$static CXX="$CXX" ;;
    add_subdirectory)
        # Flags, paths and the folder's depth are the build's own, so that the compiler cache can help.
        folder=$BUILD-as-subproject
        "$CMAKE" -S "$here/add_subdirectory" -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER="$CXX" \
            -DSHOVE="$(realpath "$here/../..")" -DSHOVE_WERROR=ON \
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -g1 -DNDEBUG" \
            ${LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER="$LAUNCHER"}
        "$CMAKE" --build "$folder" --target outside ;;
    *)
        echo "usage: $0 install|find_package|codecs|rabbitmq|kafka|pkg_config|rabbitmq_pkg_config|add_subdirectory" >&2
        exit 64 ;;
esac

cd "$folder"
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name 'libshove-core*' | head -n 1)") ./outside
