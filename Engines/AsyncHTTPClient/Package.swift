// swift-tools-version: 6.2
import PackageDescription

let houseRules: [SwiftSetting] =
    [.strictMemorySafety(), .treatAllWarnings(as: .error)]
    + ["ExistentialAny", "InternalImportsByDefault", "NonisolatedNonsendingByDefault"].map {
        .enableUpcomingFeature($0)
    }

// An engine on async-http-client: a package of its own, so that no other build fetches SwiftNIO.
let package = Package(
    name: "signet-async-http-client",
    products: [.library(name: "SignetAsyncHTTPClient", targets: ["SignetAsyncHTTPClient"])],
    dependencies: [
        .package(name: "signet", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .target(
            name: "SignetAsyncHTTPClient",
            dependencies: [
                .product(name: "SignetPinning", package: "signet"),
                .product(name: "SignetTransport", package: "signet"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            swiftSettings: houseRules),
        // A link to the folder of that name in the root's tests.
        .target(
            name: "TestSupport", path: "TestSupport", exclude: ["Peers", "Servers"],
            swiftSettings: houseRules),
        .testTarget(
            name: "SignetAsyncHTTPClientTests",
            dependencies: [
                "SignetAsyncHTTPClient", "TestSupport",
                .product(name: "SignetClient", package: "signet"),
                .product(name: "SignetPinning", package: "signet"),
                .product(name: "SignetTransport", package: "signet"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Tests", swiftSettings: houseRules),
    ],
    swiftLanguageModes: [.v6]
)
