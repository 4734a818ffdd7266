// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "signet-benchmarks",
    dependencies: [
        .package(name: "signet", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    ],
    targets: [
        .systemLibrary(name: "CBenchOpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CBenchLibcurl", pkgConfig: "libcurl"),
        .target(name: "CFloor", dependencies: ["CBenchOpenSSL", "CBenchLibcurl"]),
        .executableTarget(
            name: "signet-bench",
            dependencies: [
                "CFloor",
                .product(name: "SignetClient", package: "signet"),
                .product(name: "SignetCurl", package: "signet"),
                .product(name: "SignetJSON", package: "signet"),
                .product(name: "SignetPinning", package: "signet"),
                .product(name: "SignetRPC", package: "signet"),
                .product(name: "SignetSigning", package: "signet"),
                .product(name: "SignetTransport", package: "signet"),
                .product(name: "SignetVault", package: "signet"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ],
    swiftLanguageModes: [.v6]
)
