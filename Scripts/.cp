#!/bin/sh
# Checks a change before it is merged: format, the use of pointers, tracked files, style, imports, documentation,
# and under AddressSanitizer the tests that meet C. Stops at the first failure. `.ci/run` runs this, then the
# tests; Scripts/check-all checks the rest.
set -eu
cd "$(dirname -- "$0")/.."
. Scripts/step

# none MESSAGE GREP-ARGUMENTS...: fails with the message if tracked files contain the pattern.
none() {
    what=$1
    shift
    if git grep -nI "$@"; then
        echo "check: $what" >&2
        exit 1
    fi
}

step "fo"
packages="Package.swift Sources Tests Examples"
for folder in Benchmarks Fuzz Engines/AsyncHTTPClient; do
    [ ! -d "$folder/Sources" ] || packages="$packages $folder/Package.swift $folder/Sources"
done
# shellcheck disable=SC2086  # a list of paths without spaces
swift format lint --strict --recursive $packages

step "pointers are used in five places only, Foundation's JSON and network nowhere"
fence="SignetCrypto, SignetSystem, SignetCurl, SignetRedis's connection and SignetRPCStreams' descriptors"
set -- 'Sources/*.swift' 'Tests/*.swift' 'Examples/*.swift' ':!Sources/SignetCrypto' ':!Sources/SignetCurl' \
    ':!Sources/SignetSystem' ':!Sources/SignetRedis/RedisConnection.swift' ':!Sources/SignetRPCStreams/Descriptors.swift'
none "only $fence may say unsafe" -w unsafe -- "$@"
none "only $fence may import a C module" -E 'import CSignet' -- "$@"
none "no FoundationNetworking, no Foundation JSON" -wE \
    'FoundationNetworking|JSONSerialization|JSONDecoder|JSONEncoder' -- 'Sources/*.swift'
none "no try!, as!, fatalError, TODO or FIXME" -E '\b(try!|as!|fatalError\(|TODO|FIXME)' -- Sources

step "decisions on text compare bytes"
# Swift compares characters: "command:" and a combining mark don't begin with "command:" for hasPrefix.
none "startsWithBytes(of:) and endsWithBytes(of:) compare bytes, not characters" -E \
    '\.(hasPrefix|hasSuffix)\(' -- 'Sources/*.swift'

step "tracked files contain no machine's path and no key"
none "a machine's path" -E '/(work|farm|root)/|/opt/(swift|cargo)'
none "a private key" -E -e '-----BEGIN ([A-Z]+ )?PRIVATE KEY'
if git ls-files | grep -E '(^|/)(\.build[^/]*|Package\.resolved|keys)(/|$)|^certs/.*\.(key|pem)$'; then
    echo "check: these must not be tracked" >&2
    exit 1
fi

step "links of the pages"
Scripts/links check

step "style: labels, words, examples, circles of files, and unused dependencies"
Scripts/measure-style --check
Scripts/measure-circles --check
Scripts/check-imports

