import SignetVault

extension ConfigurationKey where Value == String, Visibility == PublicValue {
    static let databaseHost = Self("database.host")
}
extension ConfigurationKey where Value == String, Visibility == SecretValue {
    static let databasePassword = Self("database.password")
}

CoreDumps.disable()
let keys = VaultKeys.keys(try KeySource(CommandLine.arguments[1]).load())
let running = VersionBinding(app: "com.example.shop", version: "1.0.0")
let opened = try DumpFile("signet.dump").open(with: keys, for: running)
let configuration = try GlobalConfiguration(
    restoring: opened, schema: Schema(contentsOf: "schema.json"), requiring: .databaseHost)
let host = configuration.public[.databaseHost]
try configuration.withSecret(.databasePassword) { password in
    print("connects to \(host) with a password of \(password.count) bytes")
}
