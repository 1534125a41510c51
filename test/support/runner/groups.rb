# frozen_string_literal: true

require_relative "group"

module Runner
  # The groups of bin/test. The groups that take longest come first.
  module Groups
    # Shares of a processor that a job uses. Tests of servers mostly wait. Other tests wait half of the time.
    WAITING = 0.25
    HALF = 0.5
    # Only these tests can have another result under an older Rack. They test the Rack environment, and use Rack::Lint,
    # Rack::BodyProxy, Rack::Events and Rack::Sendfile.
    RACK_FILES = "{request/env*,response/{lint,body_proxy,x_sendfile}}"
    RACK_GEMFILES = Dir[File.expand_path("../../../gemfiles/rack[0-9]*.gemfile", __dir__)].freeze
    VALGRIND = { "BONTEBOK_TEST_TIME_FACTOR" => "20" }.freeze
    LONG = { "BONTEBOK_TEST_LONG" => "1" }.freeze
    KILLING = { "BONTEBOK_TEST_KILLING" => "30" }.freeze
    # prove ends with a failure if a process has got a warning of our own files.
    OWN_WARNINGS = {
      "PERL5OPT" => "-MOwnWarnings",
      "PERL5LIB" => [File.expand_path("../../../perl/t/lib", __dir__), *ENV.fetch("PERL5LIB", nil)].join(":")
    }.freeze

    module_function

    def make(...) = Job.make(...)

    # Returns jobs for the files of test/ that match the pattern; with `only`, for those that are also in this list. The
    # files are divided among `processes` jobs.
    def files(pattern, only = nil, processes: 1, **options)
      found = Dir.glob("test/#{pattern}_test.rb").sort_by { |file| -File.size(file) }
      found &= only if only
      shares = found.each_with_index.group_by { |_file, index| index % processes }.values
      shares.map { |share| Job.ruby(share.map(&:first).sort, **options) }
    end

    ALL = [
      Group.new("interop", "proxies and Chromium in front, frameworks behind, start_server and systemd around",
                jobs: ->(only = nil) { interop(only) }, full: -> { interop(env: LONG) }),
      Group.new("integration", "the executable, over the wire",
                jobs: ->(only = nil) { integration(only) }, full: -> { integration(env: LONG) }),
      Group.new("core", "the core in C: unit tests under ASan and UBSan, plain and vector scanners; with --full chaos",
                jobs: -> { [make("core", "test")] }, full: -> { [make("core", "test"), chaos("run")] }),
      Group.new("threads", "the core's tests that use threads, under ThreadSanitizer; with --full all of them",
                jobs: -> { [make("core", "tsan")] }, full: -> { [make("core", "tsan-all"), chaos("run-tsan")] }),
      Group.new("ext", "the binding, under the newest Rack",
                jobs: ->(only = nil) { files("ext/**/*", only, cores: HALF) }),
      Group.new("lint", "the rules of the tree: layers, sizes, paths in docs, packaging, style",
                jobs: -> { files("lint/**/*") + rubocop }, full: -> { files("lint/**/*", env: LONG) + rubocop }),
      Group.new("conform", "Rack and HTTP, as tables of cases",
                jobs: ->(only = nil) { files("conform/*", only, cores: WAITING) }),
      Group.new("perl", "the Perl binding: XS and classes, and its tarball, which is built and installed",
                jobs: -> { perl }, full: -> { perl(env: LONG) }),
      Group.new("psgi", "plackup: Plack's suite for servers, frameworks behind, nginx and start_server around",
                jobs: ->(only = nil) { psgi(only) }),
      Group.new("load", "the load tool",
                jobs: -> { [make("load", "test")] + files("load/*", cores: WAITING) }),
      Group.new("portable", "what systems without Linux get: poll(2), one process; with --full all that can be tested",
                jobs: -> { [portable("portable/*")] },
                full: -> { [make("core", "test", "PORTABLE=1"), portable("ext/**/*", "conform/*", "portable/*")] }),
      Group.new("fuzz", "parser, body decoder, reply encoder, conditions, paths of files, access log: on random bytes",
                jobs: -> { [fuzz(20_000)] }, full: -> { [fuzz(2_000_000)] }),
      Group.new("unit", "Ruby classes, and the tests' harness",
                jobs: ->(only = nil) { files("unit/**/*", only, cores: HALF) },
                full: -> { files("unit/**/*", cores: HALF, env: LONG) }),
      Group.new("ext-rack", "the binding under Rack 2.2, 3.0 and 3.1, where that can differ; with --full all of it",
                jobs: -> { under_each_rack("ext/#{RACK_FILES}") }, full: -> { under_each_rack("ext/**/*") }),
      Group.new("arm64", "the bytes layer built for arm64, run emulated", jobs: -> { [make("core", "test-arm64")] }),
      Group.new("warnings", "clang and musl-gcc have nothing to say about the core and the load tool",
                jobs: -> { [make("core", "warnings"), make("load", "warnings")] }),
      Group.new("memory", "the binding under valgrind",
                full: -> { [Job.new("bundle", "exec", "rake", "--silent", "test:memory", env: VALGRIND)] }),
      Group.new("timing-core", "tests of the core that need time or a free processor for their verdict",
                jobs: -> { timing_core }, alone: true),
      Group.new("timing", "tests of the server that need time or a free processor for their verdict",
                jobs: ->(only = nil) { files("timing/*", only) },
                full: -> { files("timing/*", env: LONG.merge(KILLING)) }, alone: true),
      Group.new("soak", "long runs under load: no request is lost, no sanitizer has anything to say",
                full: ->(only = nil) { soak(only) }, alone: true)
    ].freeze

    def all = ALL

    def default = ALL.select(&:default?)

    def named(name) = ALL.find { |group| group.name == name }

    def fuzz(runs) = make("core/fuzz", "run", "RUNS=#{runs}", "FLAGS=-verbosity=0")

    # Hostile clients and a worker with very small limits.
    def chaos(target) = make("core/chaos", target, "SECONDS=120")

    def under_each_rack(pattern)
      RACK_GEMFILES.flat_map { |path| files(pattern, cores: HALF, env: { "BUNDLE_GEMFILE" => path }) }
    end

    # Builds the extension without the calls of Linux. test/support/portable runs the files in a copy of the checkout.
    def portable(*patterns)
      found = patterns.flat_map { |pattern| Dir.glob("test/#{pattern}_test.rb") }.sort
      Job.new("test/support/portable", *found, cores: HALF)
    end

    def integration(only = nil, **more) = files("integration/**/*", only, processes: 4, cores: WAITING, **more)

    def interop(only = nil, **more)
      files("interop/{*,files/*,solid_queue/*,versions/*}", only, processes: 2, cores: WAITING, **more)
    end

    def psgi(only = nil)
      [*(prove("t/psgi/**/*.t") unless only), *files("interop/psgi/*", only, cores: WAITING)]
    end

    # The tests of perl/xt compile.
    def perl(**more)
      [prove("t/**/*.t", without: "t/psgi/**/*", cores: HALF, **more), prove("xt/*.t", **more)]
    end

    # Returns a job that runs tests in Perl. The patterns are relative to perl/.
    def prove(pattern, without: nil, cores: 1, env: {})
      found = Dir.glob(pattern, base: "perl") - Dir.glob(without.to_s, base: "perl")
      Job.new("env", "--chdir=perl", "prove", "-b", "-w", "-j2", *found.sort, cores: cores,
                                                                              env: OWN_WARNINGS.merge(env))
    end

    def soak(only = nil)
      files("soak/*", only, env: LONG) + (only ? [] : [Job.new("bench/soak", "--seconds", "120")])
    end

    def rubocop
      [Job.new(RbConfig.ruby, "--disable=gems", "-r./test/support/runner/style", "-e", "exit Runner::Style.new.call")]
    end

    # make builds the tests with all processors first. Then the tests run one after the other.
    def timing_core
      [make("core", "build-timing"), Job.new("make", "-s", "-k", "-C", "core", "timing")]
    end
  end
end
