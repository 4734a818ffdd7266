// swift-tools-version: 6.2
import PackageDescription

let houseRules: [SwiftSetting] =
    [.strictMemorySafety(), .treatAllWarnings(as: .error)]
    + [
        "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility",
        "NonisolatedNonsendingByDefault",
    ].map { .enableUpcomingFeature($0) }

// The tests of SignetRedis, which exists only with the trait Redis: a package of its own, so that
// neither the package nor its other tests look for hiredis.
let package = Package(
    name: "signet-redis-tests",
    dependencies: [.package(name: "signet", path: "../..", traits: ["Redis"])],
    targets: [
        // A link to the folder of that name beside this package.
        .target(
            name: "TestSupport", path: "TestSupport", exclude: ["Peers", "Servers"],
            swiftSettings: houseRules),
        .testTarget(
            name: "SignetRedisTests",
            dependencies: [
                "TestSupport",
                .product(name: "SignetRedis", package: "signet"),
                .product(name: "SignetSigning", package: "signet"),
                .product(name: "signet", package: "signet"),
            ],
            path: "Tests",
            // The optimiser of Swift 6.3 crashes on these tests; what they test is optimised.
            swiftSettings: houseRules + [.unsafeFlags(["-Onone"], .when(configuration: .release))]),
    ],
    swiftLanguageModes: [.v6]
)
