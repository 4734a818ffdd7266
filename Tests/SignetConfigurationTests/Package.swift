// swift-tools-version: 6.2
import PackageDescription

// The tests of SignetConfiguration, which exists only with the trait Configuration: a package of
// its own, so that neither the package nor its other tests fetch or build swift-configuration.
let package = Package(
    name: "signet-configuration-tests",
    dependencies: [
        .package(name: "signet", path: "../..", traits: ["Configuration"]),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0",
            traits: ["Logging"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .testTarget(
            name: "SignetConfigurationTests",
            dependencies: [
                .product(name: "SignetConfiguration", package: "signet"),
                .product(name: "SignetJSON", package: "signet"),
                .product(name: "SignetVault", package: "signet"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "ConfigurationTesting", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests",
            swiftSettings: [
                .strictMemorySafety(), .treatAllWarnings(as: .error),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
