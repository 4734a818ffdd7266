// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that no other package fetches a web framework for Signet.
let package = Package(
    name: "webhooks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "signet", path: "../..", traits: []),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.16.0"),
    ],
    targets: [
        .executableTarget(
            name: "webhooks",
            dependencies: [
                .product(name: "SignetSigning", package: "signet"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ], path: "Sources"),
        .testTarget(
            name: "WebhooksTests",
            dependencies: [
                "webhooks",
                .product(name: "SignetSigning", package: "signet"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
            ], path: "Tests"),
    ],
    swiftLanguageModes: [.v6]
)
