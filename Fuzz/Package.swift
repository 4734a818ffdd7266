// swift-tools-version: 6.2
import PackageDescription

// Built with --sanitize=fuzzer,address only, by Scripts/fuzz: libFuzzer brings the main function.
let settings: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "signet") }

/// A target that libFuzzer runs, with the products that it needs.
func fuzzer(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: "fuzz-\(name)", dependencies: ["FuzzSupport"] + products.map(product),
        swiftSettings: settings)
}

/// The name that SwiftPM gives the package in "..", which is its folder's: it lets code of the tool, which a link
/// in a target leads to, use what Signet's targets share among themselves.
let packageName = String(
    Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init)?.lowercased()
        .map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" } ?? [])

let package = Package(
    name: "signet-fuzz",
    dependencies: [
        .package(name: "signet", path: "..", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        .target(
            name: "FuzzSupport", dependencies: [product("SignetSigning"), product("SignetJSON")],
            swiftSettings: settings),
        fuzzer("bodies", "SignetJSON", "SignetSigning"),
        fuzzer("certificates", "SignetSigning"),
        fuzzer("configurations", "SignetClient"),
        fuzzer("conversions", "SignetPinFormats", "SignetPinning"),
        fuzzer("dates", "SignetClient", "SignetRPC"),
        fuzzer("descriptions", "SignetJSON", "SignetRPC", "SignetServiceDescription"),
        fuzzer("dumps", "SignetVault"),
        fuzzer("environment", "SignetJSON", "SignetVault"),
        fuzzer("fields", "SignetSigning"),
        fuzzer("frames", "SignetRPC", "SignetRPCStreams"),
        fuzzer("hosts", "SignetPinning", "SignetTransport"),
        fuzzer("http", "SignetClient", "SignetCurl", "SignetRPC", "SignetTransport"),
        fuzzer("json", "SignetJSON"),
        fuzzer("keys", "SignetSigning"),
        fuzzer("links", "SignetCurl", "SignetRPC"),
        fuzzer("messages", "SignetSigning"),
        fuzzer("patterns", "SignetVault"),
        fuzzer("policies", "SignetPinning"),
        fuzzer("responses", "SignetJSON", "SignetRPC"),
        fuzzer("schemes", "SignetJSON", "SignetSigning"),
        fuzzer("shares", "SignetJSON", "SignetSigning"),
        .executableTarget(
            name: "fuzz-sources",
            dependencies: [
                "FuzzSupport", product("SignetJSON"), product("SignetVault"),
                .product(name: "Yams", package: "Yams"),
                .product(name: "TOMLKit", package: "TOMLKit"),
            ], packageAccess: false,
            swiftSettings: settings
                + [.define("Tool"), .unsafeFlags(["-package-name", packageName])]),
        fuzzer("updates", "SignetPinning"),
        fuzzer("urls", "SignetCurl", "SignetPinning", "SignetTransport"),
        fuzzer("verifier", "SignetSigning"),
    ],
    swiftLanguageModes: [.v6]
)
