/// How a program runs, as its configuration (string `app.runMode`) or
/// `NetworkSystem.Options.runMode` says and its build allows.
///
/// Only a debug build can run in another mode than production. In a release build no value,
/// argument or environment variable changes the mode.
public enum RunMode: String, Sendable, Hashable, CaseIterable {
    /// Real servers, and nothing is simulated. This is the default.
    case production
    /// The services' hosts of `services.NAME.staging`, and simulations, for tests before a release.
    case staging
    /// The services' hosts of `services.NAME.development`, and simulations, for development.
    case development

    /// Whether this build may run in another mode than production.
    ///
    /// SwiftPM compiles a package's dependencies with the configuration of the program that uses
    /// them, so a program's own release build cannot switch, and its debug build can.
    public static var isSwitchable: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }
}
