#!/usr/bin/env bash
# Has Maven fetch the broker of Apache Kafka for the tests, where it is not there yet; prints its folder.
# It is kept in the user's cache: Debian has no package of it.
set -euo pipefail
version=3.9.2
pinned=aea7a5c231fa124b118209d52b9fe968e420e08f7e1f7bfec392f8c1de62b951
cache=${XDG_CACHE_HOME:-$HOME/.cache}/shove
folder=$cache/kafka-$version

digest() { (cd "$1" && LC_ALL=C sha256sum -- *.jar | sha256sum | cut -d ' ' -f 1); }

if [ ! -e "$folder/checked" ]; then
    command -v mvn >/dev/null || { echo "fetch-kafka: Maven is missing; run tools/install-deps.sh test" >&2; exit 1; }
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/fetch-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    cat >"$work/pom.xml" <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
END
    mvn -q -B -ntp -f "$work/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$work/jars" </dev/null >"$work/log" 2>&1 ||
        { grep -m 3 ERROR "$work/log" >&2; echo "fetch-kafka: Maven could not fetch Kafka $version" >&2; exit 1; }
    found=$(digest "$work/jars")
    [ "$found" = "$pinned" ] || { echo "fetch-kafka: these are not the files that are pinned: $found" >&2; exit 1; }
    touch "$work/jars/checked"
    rm -rf "$folder"
    # Somebody else may have been quicker.
    mv -T "$work/jars" "$folder" 2>/dev/null || [ -e "$folder/checked" ]
    echo "fetch-kafka: fetched Kafka $version" >&2
fi
echo "$folder"
