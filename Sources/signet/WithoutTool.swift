#if !Tool
import Glibc

/// The program of a build without the package trait `Tool`, which fetches no parsers.
@main
enum Signet {
    static func main() {
        fputs(
            "signet: this build has no commands, because the package trait Tool is off\n", stderr)
        exit(2)
    }
}
#endif
