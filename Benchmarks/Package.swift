// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "signet-benchmarks",
    traits: [
        .trait(
            name: "Peers", description: "The rows beside async-http-client: make bench PEERS=yes.")
    ],
    dependencies: [
        .package(name: "signet", path: "..", traits: ["Storage"]),
        // Fetched and built only with the trait Peers.
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    ],
    targets: [
        .systemLibrary(name: "CBenchOpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CBenchLibcurl", pkgConfig: "libcurl"),
        .target(
            name: "CFloor", dependencies: ["CBenchOpenSSL", "CBenchLibcurl"],
            linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "signet-bench",
            dependencies: [
                "CFloor",
                .product(name: "SignetCache", package: "signet"),
                .product(name: "SignetClient", package: "signet"),
                .product(name: "SignetCurl", package: "signet"),
                .product(name: "SignetJSON", package: "signet"),
                .product(name: "SignetPinning", package: "signet"),
                .product(name: "SignetRPC", package: "signet"),
                .product(name: "SignetRecording", package: "signet"),
                .product(name: "SignetSigning", package: "signet"),
                .product(name: "SignetStorage", package: "signet"),
                .product(name: "SignetTransport", package: "signet"),
                .product(name: "SignetVault", package: "signet"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
                + [
                    ("AsyncHTTPClient", "async-http-client"), ("NIOCore", "swift-nio"),
                    ("NIOSSL", "swift-nio-ssl"),
                ].map { name, package in
                    .product(name: name, package: package, condition: .when(traits: ["Peers"]))
                },
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ],
    swiftLanguageModes: [.v6]
)
