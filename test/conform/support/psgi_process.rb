# frozen_string_literal: true

module Conform
  # Runs `plackup -s Bontebok` in its own process group. Takes the options of Support::BontebokProcess, and arguments of
  # exe/bontebok: the same tests run with both.
  class PsgiProcess < Support::ServerProcess
    PERL = File.expand_path("../../../perl", __dir__)
    APPLICATIONS = File.join(__dir__, "psgi")
    # Plack's counterpart of Rack::Lint. It refuses methods that have other bytes than capital letters.
    LINT = ["-e", 'enable_if { $_[0]{REQUEST_METHOD} =~ /\A[A-Z]+\z/ } "Lint"'].freeze
    # The server has one process with one thread, and Plack has other environments.
    WITHOUT_COUNTERPART = %w[-w -t -E].freeze
    # Options of the Perl handler, by their names in Ruby. Each other option is a setting of the core, and has the same
    # name there, or the names in SETTINGS.
    OPTIONS = { "--keepalive-timeout" => "--keepalive-timeout", "--max-keepalive-requests" => "--max-keepalive-reqs",
                "--server" => "--server-software" }.freeze
    SETTINGS = { "--spool-threshold" => %w[spool_threshold response_buffer] }.freeze

    # Builds the Perl binding, if this checkout does not have it.
    def self.build
      return if File.directory?(File.join(PERL, "blib"))

      [%w[perl Makefile.PL], %w[make -s -j2]].each do |command|
        child = Support::ChildProcess.run(*command, chdir: PERL)
        raise Support::Error, child.output.text unless child.status.success?
      end
    end

    attr_reader :address

    # application: the name of a file in psgi/. address: a Support::Address with a port that is free.
    def initialize(directory, application, address, args: [], lint: true, under: nil)
      self.class.build
      @address = address
      super(*under, "plackup", "-I#{PERL}/blib/lib", "-I#{PERL}/blib/arch", "-I#{APPLICATIONS}", "-s", "Bontebok",
            "-E", "deployment", "--max-workers", "0", "--listen", address.to_s,
            *translated(args.map(&:to_s)), *(LINT if lint),
            File.join(APPLICATIONS, "#{application}.psgi"), chdir: directory)
    end

    # plackup does not log that the server listens.
    def wait_until_ready
      Support::Eventually.eventually("#{address} to accept connections", seen: -> { output.text }) do
        raise Support::Error, "process #{pid} ended:\n#{output.text}" unless running?

        listens?
      end
      self
    end

    private

    def listens?
      address.connect.close
      true
    rescue Errno::ECONNREFUSED, Errno::ENOENT
      false
    end

    def translated(args)
      settings = []
      words = args.dup
      options = []
      until words.empty?
        name = words.shift
        next words.shift if WITHOUT_COUNTERPART.include?(name)

        value = words.first&.start_with?("-") ? nil : words.shift
        OPTIONS[name] ? options.push(OPTIONS[name], value) : settings.push(*setting(name, value))
      end
      settings.empty? ? options : ["-MCoreSettings=#{settings.join(",")}", *options]
    end

    # A switch has no value: --no-chunked-transfer.
    def setting(name, value)
      key = name.delete_prefix("--")
      value ||= key.start_with?("no-") ? "no" : "yes"
      SETTINGS.fetch(name) { [key.delete_prefix("no-").tr("-", "_")] }.flat_map { |setting| [setting, value] }
    end
  end
end
