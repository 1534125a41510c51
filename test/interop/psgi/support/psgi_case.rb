# frozen_string_literal: true

require_relative "../../support/servers/documented_nginx"
require_relative "../../support/site_keeper"
require_relative "../../support/test_case"
require_relative "plackup"

module Interop
  # The base of tests of an application in Perl. The tests of a class share two servers, because these start slowly:
  # plackup on TCP and on a unix socket, with nginx in front of the unix socket, and plackup under start_server, which
  # opens both kinds of listener. A class defines `application`, the name of a file in ../apps.
  class PsgiCase < TestCase
    extend SiteKeeper

    # Plack's counterpart of Rack::Lint is in front of the application, except under start_server.
    LINT = ["-e", 'enable "Lint"'].freeze
    # Lines that the tests cause on purpose, and those of start_server. A warning is none of them.
    # CGI::Compile removes one directory at the end of each process, and the second process warns.
    EXPECTED_LINES =
      /on purpose|cgi_compile_|\A(start_server|starting new|received TERM|worker \d+ died, status:0|exiting|\s*\z)/

    def setup
      @servers, @entrances = self.class.site_keeper.site
    end

    # Returns { name of an entrance => its server }, and the entrances as { name => address }.
    def site
      @site ||= begin
        prepare
        @entrances = { "TCP" => tcp, "unix" => unix("own"), "TCP of start_server" => tcp,
                       "unix of start_server" => unix("inherited") }
        servers = start_servers(*@entrances.values.each_slice(2))
        start_proxy(DocumentedNginx.new("docs/PERL.md", temp_dir, @entrances.fetch("unix").delete_prefix("unix:"),
                                        { "nginx" => tcp }))
        @workers = servers.to_h { |server| [server, server.wait_until_ready.workers] }
        own, starter = servers
        [@entrances.keys.zip([own, own, starter, starter, own]).to_h, @entrances]
      end
    end

    # Fails if a worker has been replaced, if a server does not end gracefully, or if a line of a log is not expected.
    def close_site
      faults = @workers.flat_map { |server, workers| faults_of(server, workers) }
      before_teardown
      raise Support::Error, "#{self.class}: #{faults.join("\n")}" if faults.any?
    ensure
      after_teardown
    end

    # Some applications expect that a browser names itself.
    def at_each_entrance(fields = {})
      super({ "User-Agent" => "interop" }.merge(fields))
    end

    private

    # Makes the files that the application needs in temp_dir, the servers' working directory.
    def prepare = nil

    # A directory of modules that this system lacks.
    def library = nil

    def tcp = "127.0.0.1:#{held_port}"

    def unix(name) = "unix:#{temp_dir}/#{name}.sock"

    def start_servers(own, inherited)
      starter = StartServer.new(temp_dir, application, inherited, library: library)
      children.push(Plackup.new(temp_dir, application, own, args: LINT, library: library), starter).last(2)
    end

    def faults_of(server, workers)
      later = server.workers
      faults = later == workers ? [] : ["other workers than #{workers}: #{later}"]
      status = server.stop
      faults << status.inspect unless status.exitstatus&.zero?
      server.output.wait_for_end
      faults + server.output.lines.grep_v(EXPECTED_LINES)
    end

    # Failures show the log of the entrance's server.
    def name_in_failures(entrance)
      @server = @servers.fetch(entrance)
      super
    end
  end
end
