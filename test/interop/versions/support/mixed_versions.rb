# frozen_string_literal: true

require_relative "../../../integration/support/control_case"
require_relative "../../../integration/support/release_load"
require_relative "../../../support/versions/former_version"
require_relative "former_checkout"
require "bontebok/version"

module Interop
  # Tests include this module that run two versions of Bontebok in one server. Release 1 has the former version and
  # release 2 has this one. Releases 3 and 4 have the same versions, and an application that cannot be loaded. The link
  # `current` leads to one of them, and the commands have the version of that release.
  #
  # A load runs during each test (ReleaseLoad): no request is lost.
  module MixedVersions
    include ControlCase

    FORMER = 1
    PRESENT = 2
    # The number of each version.
    NUMBERS = { FORMER => "0.0.9", PRESENT => Bontebok::VERSION }.freeze
    BAD = { 3 => FORMER, 4 => PRESENT }.freeze
    # Each of the two is the version of the supervisor at the start.
    PAIRS = { "former" => [FORMER, PRESENT], "present" => [PRESENT, FORMER] }.freeze
    FAILED_DEPLOY = [/the application \S+ cannot be loaded: bad code/,
                     /master \(pid \d+\) ended before it was ready: exit status 1$/,
                     /the deploy has failed: the present master continues$/].freeze
    KILLED_MASTER = [/master \(pid \d+\) ended: killed by SIGKILL/, /the master is gone: serves until/,
                     /the supervisor adopts the workers of the dead master: /].freeze

    def setup
      skip "only in the long form" unless Support::Length::LONG
      checkout = FormerCheckout.new(Support::FormerVersion::COMMIT)
      missing = checkout.missing
      skip "the repository lacks the former version: #{missing}" if missing
      FileUtils.mkdir("#{temp_dir}/tmp")
      @checkouts = { FORMER => checkout.prepare, PRESENT => ROOT }
    end

    private

    # Makes the releases, and starts a server with two workers in this release.
    def start_release(number, *args, app: {})
      [FORMER, PRESENT].each { |each| make_release(each, each, ReleaseLoad.files(each).merge(app)) }
      bad = ReleaseLoad.files(number).merge("config.ru" => "raise 'bad code'")
      BAD.each { |each, version| make_release(each, version, bad) }
      lead_to(number)
      @server = start_current("--control", control, "-w", "2", "--public", "public", "--ready-path", "/ready",
                              "--access-log", "#{temp_dir}/access.log", *args, command: [RbConfig.ruby, "exe/bontebok"])
    end

    def make_release(number, version, files)
      release(number, "exe/bontebok" => File.read("#{@checkouts.fetch(version)}/exe/bontebok"), **files)
      FileUtils.cp_r("#{@checkouts.fetch(version)}/lib", "#{temp_dir}/releases/#{number}/lib")
      change_lib(number, "version.rb", /VERSION = ".*"/, "VERSION = #{NUMBERS.fetch(version).inspect}")
    end

    def lead_to(number)
      File.symlink("releases/#{number}", "#{temp_dir}/new")
      File.rename("#{temp_dir}/new", "#{temp_dir}/current")
    end

    def ruby_client = [RbConfig.ruby, "#{temp_dir}/current/exe/bontebok"]

    # Waits until one master has all the workers. Beside it, a kept master can be there, which has none.
    def master(server = @server)
      masters = nil
      eventually("one master with workers", seen: -> { [masters, server.output.text] }) do
        masters = Support::ProcessTable.children(server.pid).select { |each| children_of(each).any? }
        masters.first if masters.one?
      end
    end

    def children_of(process) = Support::ProcessTable.children(process.pid)

    # Those of all masters.
    def workers(server = @server)
      masters = Support::ProcessTable.children(server.pid)
      masters.flat_map { |each| children_of(each) }.map(&:pid)
    end

    # --- operations under load ---

    def begin_load(number)
      @load = ReleaseLoad.new(@server.address, number)
      @load.await(number)
    end

    # generation: that serves then.
    def deploy_release(number, generation)
      lead_to(number)
      @load.change_to(number) { assert_command 0, "generation #{generation} serves\n", "deploy", "--wait" }
      assert_version number, master.pid
    end

    def roll_back(number, generation)
      @load.change_to(number) { assert_command 0, "generation #{generation} serves again\n", "rollback", "--wait" }
      lead_to(number)
    end

    # number: of the release that serves.
    def fail_deploys(number)
      BAD.each_key do |bad|
        lead_to(bad)
        assert_command 1, /bad code \(RuntimeError\).*^bontebok: the new master has/m, "deploy", "--wait"
      end
      lead_to(number)
      @load.await(number)
    end

    # The workers, the listeners and all connections stay.
    def replace_supervisor(number)
      lead_to(number)
      former = workers
      assert_command 0, /\Athe supervisor runs bontebok #{NUMBERS.fetch(number)}, /, "deploy", "--supervisor"
      assert_version number, @server.pid
      assert_equal former, workers
    end

    # The supervisor executes the program of the release to which the link leads, and tells the workers that the dead
    # master has left to end.
    def kill_master(number)
      lead_to(number)
      killed = master.pid
      former = workers
      @load.change_to(number) do
        Process.kill("KILL", killed)
        wait_for_workers(@server, 2, without: former)
        eventually("the end of the adopted workers") { former.all? { |pid| gone?(pid) } }
      end
      assert_version number, master.pid
    end

    # The process has loaded the extension of this release.
    def assert_version(number, pid)
      library = "/releases/#{number}/lib/bontebok/bontebok.so"
      assert_includes File.read("/proc/#{pid}/maps"), library
    end

    # Commands whose words the masters get from the supervisor.
    def assert_orders(generation)
      assert_command 0, "3 workers\n", "workers", "+1"
      wait_for_workers(@server, 3)
      assert_command 0, "2 workers\n", "workers", "2"
      wait_for_workers(@server, 2)
      { "TTIN" => 3, "TTOU" => 2 }.each { |signal, count| @server.signal(signal) && wait_for_workers(@server, count) }
      [[], ["--slowly"]].each { |how| assert_workers_are_replaced(*how) }
      assert_log_is_opened_again
      assert_readiness 503, "drain"
      assert_readiness 200, "resume"
      assert_command 0, /^worker \d g#{generation} pid \d+: /, "status"
    end

    def assert_workers_are_replaced(*how)
      former = workers
      assert_command 0, "the workers are replaced\n", "restart-workers", *how
      wait_for_workers(@server, 2, without: former)
    end

    # status: of ready_path after the command.
    def assert_readiness(status, command)
      assert_equal 0, run_command(command).status.exitstatus
      assert eventually("#{command}: #{status}") { @server.get("/ready").status == status }
    end

    def assert_log_is_opened_again
      log = "#{temp_dir}/access.log"
      File.rename(log, "#{log}.1")
      assert_command 0, "the log files are opened again\n", "reopen"
      eventually("the new log") { File.size?(log) }
    end

    # No process ignores a message of another version, and nothing fails but what the test lets fail.
    def assert_ends_well(*expected)
      @load&.stop
      assert_equal 0, @server.stop.exitstatus
      lines = @server.output.text.lines.grep(/ (?:warn|error) /)
      assert_empty lines.grep_v(Regexp.union(*FAILED_DEPLOY, *KILLED_MASTER, *expected))
    end
  end
end
