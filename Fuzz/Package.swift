// swift-tools-version: 6.2
import PackageDescription

// Built with --sanitize=fuzzer,address only, by Scripts/fuzz: libFuzzer brings the main function.
let signing: Target.Dependency = .product(name: "SignetSigning", package: "signet")
let json: Target.Dependency = .product(name: "SignetJSON", package: "signet")
let rpc: Target.Dependency = .product(name: "SignetRPC", package: "signet")
let settings: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]

let package = Package(
    name: "signet-fuzz",
    dependencies: [.package(name: "signet", path: "..")],
    targets: [
        .target(
            name: "FuzzSupport", dependencies: [signing, json], swiftSettings: settings),
        .executableTarget(
            name: "fuzz-verifier", dependencies: ["FuzzSupport", signing],
            swiftSettings: settings),
        .executableTarget(
            name: "fuzz-schemes", dependencies: ["FuzzSupport", signing, json],
            swiftSettings: settings),
        .executableTarget(
            name: "fuzz-json", dependencies: ["FuzzSupport", json], swiftSettings: settings),
        .executableTarget(
            name: "fuzz-replies", dependencies: ["FuzzSupport", json, rpc],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
