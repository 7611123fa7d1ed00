#!/bin/sh
# Makes the certificates and keys of the tests anew: two authorities, a server and a client of the first, a server of the second.
# They are valid for a hundred years and protect nothing.
set -eu
cd "$(dirname "$0")"
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=$1" \
        -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign" -keyout "$1.tmp" -out "$1.crt"
}
signed() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
    printf '%s\n' "basicConstraints=CA:FALSE" "extendedKeyUsage=$3" "subjectAltName=$4" > "$1.ext"
    openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.tmp" -days 36500 -extfile "$1.ext" -out "$1.crt"
    rm "$1.csr" "$1.ext"
}
authority authority
authority stranger
signed server authority serverAuth DNS:localhost,IP:127.0.0.1
signed elsewhere authority serverAuth DNS:elsewhere.example
signed client authority clientAuth DNS:client.example
signed imposter stranger serverAuth,clientAuth DNS:localhost,IP:127.0.0.1
rm ./*.tmp ./*.srl 2>/dev/null || true
