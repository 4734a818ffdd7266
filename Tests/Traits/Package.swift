// swift-tools-version: 6.2
import PackageDescription

let houseRules: [SwiftSetting] =
    [.strictMemorySafety(), .treatAllWarnings(as: .error)]
    + [
        "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility",
        "NonisolatedNonsendingByDefault",
    ].map { .enableUpcomingFeature($0) }

func signet(_ name: String) -> Target.Dependency { .product(name: name, package: "signet") }

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let inMemoryTracing: Target.Dependency = .product(
    name: "InMemoryTracing", package: "swift-distributed-tracing")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")

func tests(
    _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + [signet(name), "TestSupport"],
        path: "\(name)Tests", swiftSettings: houseRules + settings)
}

// The tests of what package traits add: a package of their own, which sets the traits, so that
// neither the package nor its other tests fetch, build or look for what only a trait needs.
let package = Package(
    name: "signet-trait-tests",
    dependencies: [
        .package(
            name: "signet", path: "../..",
            traits: ["Tool", "AsyncHTTPClient", "Configuration", "Lifecycle", "Metrics", "Redis"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0",
            traits: ["Logging"]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
    ],
    targets: [
        // A link to the folder of that name beside this package.
        .target(
            name: "TestSupport", dependencies: [.product(name: "Logging", package: "swift-log")],
            path: "TestSupport", exclude: ["Peers", "Servers"],
            swiftSettings: houseRules),
        tests(
            "SignetAsyncHTTPClient",
            [
                signet("SignetClient"), signet("SignetPinning"), signet("SignetTransport"),
                httpTypes, inMemoryTracing, tracing,
            ]),
        tests(
            "SignetConfiguration",
            [
                signet("SignetJSON"), signet("SignetVault"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "ConfigurationTesting", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        tests(
            "SignetLifecycle",
            [
                signet("SignetClient"), signet("SignetMetrics"), signet("SignetTesting"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]),
        tests(
            "SignetMetrics",
            [
                signet("SignetClient"), signet("SignetTesting"), signet("SignetTransport"),
                httpTypes, inMemoryTracing, tracing,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Yams", package: "Yams"),
            ]),
        // The optimiser of Swift 6.3 crashes on these tests; what they test is optimised.
        tests(
            "SignetRedis", [signet("SignetSigning"), signet("signet")],
            settings: [.unsafeFlags(["-Onone"], .when(configuration: .release))]),
    ],
    swiftLanguageModes: [.v6]
)
