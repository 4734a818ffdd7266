#if Tool
import SignetVault

/// The reason that a configuration of any format can't be read.
typealias MalformedSource = EnvironmentFile.Malformed
#endif
