// swift-tools-version: 6.2
import PackageDescription

// One set of rules for every target: Swift 6 mode, the upcoming features, pointers only behind
// the word `unsafe`, and no warning that is merely looked at.
let houseRules: [SwiftSetting] =
    [.strictMemorySafety(), .treatAllWarnings(as: .error)]
    + [
        "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility",
        "NonisolatedNonsendingByDefault",
    ].map { .enableUpcomingFeature($0) }

let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let structuredHeaders: Target.Dependency = .product(
    name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

/// A product that only a package trait needs: without the trait, its package isn't fetched.
func product(_ name: String, of package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil,
    settings: [SwiftSetting] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, resources: resources,
        swiftSettings: houseRules + settings)
}

/// In release, which `make soak` builds, tests aren't optimised, because Swift 6.3's optimiser
/// crashes on some. The modules that they test are.
let testRules: [SwiftSetting] =
    Context.environment["SIGNET_SOAK"] == nil
    ? [] : [.unsafeFlags(["-Onone"], .when(configuration: .release))]

func tests(
    _ name: String, _ dependencies: [Target.Dependency], hasVectors: Bool = true
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["TestSupport"],
        resources: hasVectors ? [.copy("Vectors")] : nil, swiftSettings: houseRules + testRules)
}

let package = Package(
    name: "signet",
    products: [
        .library(name: "SignetAsyncHTTPClient", targets: ["SignetAsyncHTTPClient"]),
        .library(name: "SignetCache", targets: ["SignetCache"]),
        .library(name: "SignetClient", targets: ["SignetClient"]),
        .library(name: "SignetCurl", targets: ["SignetCurl"]),
        .library(name: "SignetInspector", targets: ["SignetInspector"]),
        .library(name: "SignetLifecycle", targets: ["SignetLifecycle"]),
        .library(name: "SignetMetrics", targets: ["SignetMetrics"]),
        .library(name: "SignetOutbox", targets: ["SignetOutbox"]),
        .library(name: "SignetTesting", targets: ["SignetTesting"]),
        .library(name: "SignetTransport", targets: ["SignetTransport"]),
        .library(name: "SignetVault", targets: ["SignetVault"]),
        .library(name: "SignetConfiguration", targets: ["SignetConfiguration"]),
        .library(name: "SignetRecording", targets: ["SignetRecording"]),
        .library(name: "SignetSigning", targets: ["SignetSigning"]),
        .library(name: "SignetRedis", targets: ["SignetRedis"]),
        .library(name: "SignetPinning", targets: ["SignetPinning"]),
        .library(name: "SignetPinFormats", targets: ["SignetPinFormats"]),
        .library(name: "SignetRPC", targets: ["SignetRPC"]),
        .library(name: "SignetRPCStreams", targets: ["SignetRPCStreams"]),
        .library(name: "SignetServiceDescription", targets: ["SignetServiceDescription"]),
        .library(name: "SignetStorage", targets: ["SignetStorage"]),
        .library(name: "SignetJSON", targets: ["SignetJSON"]),
        .executable(name: "signet", targets: ["signet"]),
    ],
    // The files of what a trait adds are inside `#if` and its name, and its dependencies are fetched
    // only with the trait. Only the tool's is on unless a package says `traits: []`.
    traits: [
        .default(enabledTraits: ["Tool", "Storage", "Inspector"]),
        .trait(name: "Tool", description: "The program signet, and the parsers that it needs."),
        .trait(
            name: "Storage",
            description: "SignetStorage and SignetOutbox: a cache and records on disk, with GRDB."),
        .trait(
            name: "AsyncHTTPClient",
            description: "SignetAsyncHTTPClient: an engine on async-http-client."),
        .trait(
            name: "Configuration",
            description: "SignetConfiguration: the vault's public view for swift-configuration."),
        .trait(
            name: "Inspector",
            description:
                "SignetInspector: a page that shows the calls of a program, with FlyingFox."),
        .trait(
            name: "Lifecycle",
            description: "SignetLifecycle: a network system as a service of a ServiceGroup."),
        .trait(
            name: "Metrics",
            description: "SignetMetrics: metrics and spans of calls, and their trace context."),
        .trait(
            name: "Redis",
            description: "SignetRedis: nonces that servers share in a Redis, through hiredis."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        // Tool
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
        // Storage
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        // Inspector
        .package(url: "https://github.com/swhitty/FlyingFox.git", from: "0.27.1"),
        // AsyncHTTPClient
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        // Configuration
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        // Lifecycle
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
        // Metrics
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .systemLibrary(
            name: "CSignetOpenSSL", pkgConfig: "openssl",
            providers: [
                .apt(["libssl-dev"]), .yum(["openssl-devel"]), .brew(["openssl@3"]),
            ]),
        .systemLibrary(
            name: "CSignetLibcurl", pkgConfig: "libcurl",
            providers: [
                .apt(["libcurl4-openssl-dev"]), .yum(["libcurl-devel"]), .brew(["curl"]),
            ]),
        .target(
            name: "CSignetCurl", dependencies: ["CSignetLibcurl", "CSignetOpenSSL"],
            cSettings: [.define("_GNU_SOURCE")], linkerSettings: [.linkedLibrary("z")]),

        // Only a header; a system library needs no C file.
        .systemLibrary(name: "CSignetBase64"),
        .target(name: "CSignetSystem"),
        .target(name: "CSignetStreams"),

        module("SignetBase"),
        // Lifetimes: a secret's owner lends its bytes as a Span.
        module("SignetSystem", ["CSignetSystem", "SignetBase"], settings: lifetimes),
        module("SignetJSON", ["SignetBase"]),
        module(
            "SignetCrypto",
            ["CSignetBase64", "CSignetOpenSSL", "SignetBase", "SignetJSON", "SignetSystem"],
            settings: lifetimes),
        module("SignetCache", ["SignetBase", httpTypes]),
        module(
            "SignetStorage",
            [
                "SignetBase", "SignetCache", "SignetCrypto", "SignetSystem", httpTypes,
                product("GRDB", of: "GRDB.swift", trait: "Storage"),
            ]),
        module("SignetRPC", ["SignetBase", "SignetJSON", httpTypes]),
        module(
            "SignetRPCStreams",
            ["CSignetStreams", "SignetBase", "SignetJSON", "SignetRPC", "SignetSystem"]),
        module(
            "SignetServiceDescription", ["SignetBase", "SignetJSON", "SignetRPC", httpTypes]),
        module("SignetPinning", ["SignetBase", "SignetCrypto", "SignetJSON", "SignetSystem"]),
        module("SignetPinFormats", ["SignetBase", "SignetJSON", "SignetPinning"]),
        module(
            "SignetSigning",
            [
                "SignetBase", "SignetCrypto", "SignetJSON", "SignetSystem", httpTypes,
                structuredHeaders,
            ],
            resources: [
                .embedInCode("Schemes/Documents"),
                .embedInCode("Schemes/signet-scheme.schema.json"),
            ]),
        // Both empty without the trait Redis, and hiredis neither looked for nor linked. The tests of
        // what traits add are the package Tests/Traits, which sets them.
        .target(
            name: "CSignetHiredis", dependencies: ["CSignetOpenSSL"],
            cSettings: [.define("SIGNET_REDIS", .when(traits: ["Redis"]))],
            linkerSettings: [.linkedLibrary("hiredis", .when(traits: ["Redis"]))]),
        module(
            "SignetRedis",
            ["CSignetHiredis", "SignetBase", "SignetCrypto", "SignetSigning", "SignetSystem"]),
        module("SignetVault", ["SignetBase", "SignetCrypto", "SignetJSON", "SignetSystem"]),
        module(
            "SignetConfiguration",
            [
                "SignetBase", "SignetCrypto", "SignetJSON", "SignetVault",
                product("Configuration", of: "swift-configuration", trait: "Configuration"),
            ]),
        module(
            "SignetTransport",
            ["SignetBase", "SignetCrypto", "SignetPinning", "SignetSystem", httpTypes]),
        module(
            "SignetCurl",
            [
                "CSignetCurl", "SignetBase", "SignetCrypto", "SignetPinning", "SignetSystem",
                "SignetTransport", httpTypes,
            ]),
        module(
            "SignetAsyncHTTPClient",
            [
                "SignetBase", "SignetPinning", "SignetTransport", httpTypes,
                product("AsyncHTTPClient", of: "async-http-client", trait: "AsyncHTTPClient"),
                product("NIOCore", of: "swift-nio", trait: "AsyncHTTPClient"),
                product("NIOHTTP1", of: "swift-nio", trait: "AsyncHTTPClient"),
                product("NIOPosix", of: "swift-nio", trait: "AsyncHTTPClient"),
                product("NIOSSL", of: "swift-nio-ssl", trait: "AsyncHTTPClient"),
            ]),
        module(
            "SignetClient",
            [
                "SignetBase", "SignetCache", "SignetCrypto", "SignetCurl", "SignetJSON",
                "SignetPinning", "SignetRPC", "SignetSigning", "SignetSystem", "SignetTransport",
                "SignetVault", httpTypes, logging,
            ]),
        // Empty without the trait Storage.
        module(
            "SignetOutbox",
            [
                "SignetBase", "SignetClient", "SignetJSON", "SignetPinning", "SignetRPC",
                "SignetStorage", "SignetSystem", "SignetTransport", httpTypes, logging,
            ]),
        module(
            "SignetRecording",
            [
                "SignetBase", "SignetClient", "SignetCrypto", "SignetCurl", "SignetJSON",
                "SignetPinning", "SignetStorage", "SignetSystem", "SignetTransport", "SignetVault",
                httpTypes,
            ]),
        module(
            "SignetMetrics",
            [
                "SignetBase", "SignetClient", "SignetRPC", "SignetTransport", httpTypes,
                product("Metrics", of: "swift-metrics", trait: "Metrics"),
                product("Tracing", of: "swift-distributed-tracing", trait: "Metrics"),
            ]),
        module(
            "SignetLifecycle",
            [
                "SignetClient", "SignetMetrics",
                product("ServiceLifecycle", of: "swift-service-lifecycle", trait: "Lifecycle"),
            ]),
        module(
            "SignetInspector",
            [
                "SignetBase", "SignetClient", "SignetCrypto", "SignetJSON", "SignetRPC",
                "SignetRecording", "SignetSystem", "SignetTransport", httpTypes,
                product("FlyingFox", of: "FlyingFox", trait: "Inspector"),
                product("FlyingSocks", of: "FlyingFox", trait: "Inspector"),
            ], resources: [.embedInCode("Page")]),
        // For the tests of programs that use Signet.
        module(
            "SignetTesting",
            [
                "SignetBase", "SignetClient", "SignetJSON", "SignetPinning", "SignetSystem",
                "SignetTransport", httpTypes,
            ]),
        .executableTarget(
            name: "signet",
            dependencies: [
                "SignetBase", "SignetCache", "SignetClient", "SignetCrypto", "SignetCurl",
                "SignetInspector", "SignetJSON", "SignetPinFormats", "SignetPinning", "SignetRPC",
                "SignetRecording",
                "SignetRedis",
                "SignetServiceDescription", "SignetSigning", "SignetStorage", "SignetSystem",
                "SignetTransport", "SignetVault", httpTypes, logging,
                product("ArgumentParser", of: "swift-argument-parser", trait: "Tool"),
                product("TOMLKit", of: "TOMLKit", trait: "Tool"),
                product("Yams", of: "Yams", trait: "Tool"),
            ],
            swiftSettings: houseRules),

        // What the documentation of SignetRPC goes through; part of no product.
        .target(
            name: "ParleyExample", dependencies: ["SignetClient"], path: "Examples/parley/Sources",
            swiftSettings: houseRules),
        .testTarget(
            name: "ParleyExampleTests",
            dependencies: ["ParleyExample", "SignetClient", "TestSupport"],
            path: "Examples/parley/Tests", swiftSettings: houseRules),

        // The page to copy from, against the orders host; no product, so no other package sees its name.
        .executableTarget(
            name: "shop", dependencies: ["SignetClient", "SignetRecording", logging],
            path: "Examples/shop/Sources",
            swiftSettings: houseRules),
        // Calls that succeed and fail, to look at on the page of SignetInspector.
        .executableTarget(
            name: "look",
            dependencies: [
                "SignetCache", "SignetClient", "SignetInspector", "SignetJSON", "SignetTransport",
                httpTypes,
            ], path: "Examples/look/Sources", swiftSettings: houseRules),
        // The program of the guide to sealing, which a test compares with this file and runs.
        .executableTarget(
            name: "shop-database", dependencies: ["SignetVault"], path: "Examples/shop-database",
            swiftSettings: houseRules),

        .target(
            name: "TestSupport", dependencies: [logging], path: "Tests/TestSupport",
            exclude: ["Peers", "Servers"],
            swiftSettings: houseRules),
        tests("SignetBase", ["SignetBase"], hasVectors: false),
        tests("SignetSystem", ["SignetSystem"]),
        tests("SignetJSON", ["SignetBase", "SignetJSON"]),
        tests("SignetCrypto", ["SignetBase", "SignetCrypto", "SignetJSON", "SignetSystem"]),
        tests(
            "SignetCache",
            [
                "SignetBase", "SignetCache", "SignetClient", "SignetJSON", "SignetPinning",
                "SignetStorage", "SignetTransport", httpTypes,
            ],
            hasVectors: false),
        tests(
            "SignetStorage",
            ["SignetCache", "SignetCrypto", "SignetStorage", httpTypes],
            hasVectors: false),
        tests(
            "SignetOutbox",
            [
                "SignetBase", "SignetClient", "SignetJSON", "SignetOutbox", "SignetPinning",
                "SignetTesting",
                "SignetTransport", httpTypes, logging,
            ], hasVectors: false),
        tests("SignetRPC", ["SignetJSON", "SignetRPC", "SignetServiceDescription", httpTypes]),
        tests("SignetRPCStreams", ["SignetJSON", "SignetRPC", "SignetRPCStreams", httpTypes]),
        tests(
            "SignetServiceDescription",
            ["SignetJSON", "SignetRPC", "SignetServiceDescription", httpTypes],
            hasVectors: false),
        tests(
            "SignetPinning", ["SignetCrypto", "SignetJSON", "SignetPinFormats", "SignetPinning"]),
        tests("SignetPinFormats", ["SignetPinFormats", "SignetPinning"]),
        tests(
            "SignetSigning",
            ["SignetBase", "SignetCrypto", "SignetJSON", "SignetSigning", httpTypes]),
        tests(
            "SignetVault",
            ["SignetBase", "SignetCrypto", "SignetJSON", "SignetSystem", "SignetVault"]),
        tests(
            "SignetTransport", ["SignetCrypto", "SignetPinning", "SignetTransport", httpTypes]),
        tests(
            "SignetCurl",
            ["SignetCrypto", "SignetCurl", "SignetPinning", "SignetTransport", httpTypes]),
        tests(
            "SignetClient",
            [
                "SignetBase", "SignetCache", "SignetClient", "SignetCrypto", "SignetCurl",
                "SignetJSON", "SignetPinning", "SignetRPC", "SignetSigning", "SignetSystem",
                "SignetTesting", "SignetTransport", "SignetVault", httpTypes, logging,
            ]),
        tests(
            "SignetRecording",
            [
                "SignetClient", "SignetCrypto", "SignetCurl", "SignetJSON", "SignetPinning",
                "SignetRecording", "SignetStorage", "SignetTesting", "SignetTransport",
                "SignetVault", "signet", httpTypes, logging,
            ], hasVectors: false),
        tests(
            "SignetTesting",
            [
                "SignetClient", "SignetJSON", "SignetRPC", "SignetTesting", "SignetTransport",
                httpTypes,
            ], hasVectors: false),
        tests(
            "SignetInspector",
            [
                "SignetClient", "SignetCurl", "SignetInspector", "SignetJSON", "SignetRPC",
                "SignetRecording", "SignetTesting", "SignetTransport", "look", "shop", "signet",
                httpTypes, logging,
            ], hasVectors: false),
        tests(
            "signet",
            [
                "SignetBase", "SignetCrypto", "SignetJSON", "SignetVault", "shop-database",
                "signet",
            ]),
        .testTarget(
            name: "OrdersHostTests", dependencies: ["TestSupport", "shop", "signet"],
            swiftSettings: houseRules),
    ],
    swiftLanguageModes: [.v6]
)
