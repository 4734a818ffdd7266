// swift-tools-version: 6.2
import PackageDescription

let houseRules: [SwiftSetting] =
    [.strictMemorySafety(), .treatAllWarnings(as: .error)]
    + [
        "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility",
        "NonisolatedNonsendingByDefault",
    ].map { .enableUpcomingFeature($0) }

// The tests of SignetMetrics, which exists only with the trait Metrics: a package of its own, so
// that neither the package nor its other tests fetch or build swift-metrics and
// swift-distributed-tracing.
let package = Package(
    name: "signet-metrics-tests",
    dependencies: [
        .package(name: "signet", path: "../..", traits: ["Metrics"]),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
    ],
    targets: [
        // A link to the folder of that name beside this package.
        .target(
            name: "TestSupport", path: "TestSupport", exclude: ["Peers", "Servers"],
            swiftSettings: houseRules),
        .testTarget(
            name: "SignetMetricsTests",
            dependencies: [
                "TestSupport",
                .product(name: "SignetClient", package: "signet"),
                .product(name: "SignetMetrics", package: "signet"),
                .product(name: "SignetTesting", package: "signet"),
                .product(name: "SignetTransport", package: "signet"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Tests", swiftSettings: houseRules),
    ],
    swiftLanguageModes: [.v6]
)
