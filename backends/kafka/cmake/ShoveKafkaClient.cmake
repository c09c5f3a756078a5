# librdkafka, as PkgConfig::rdkafka: Debian's has no package of CMake.
find_package(PkgConfig REQUIRED)
pkg_check_modules(rdkafka REQUIRED IMPORTED_TARGET GLOBAL rdkafka>=2.0)
