# frozen_string_literal: true

require "json"
require "rbconfig"
require "yaml"
require "test_helper"

# Runs the command of examples/container as a container does: as PID 1, with its own network. Sends the probes of
# kubernetes.yaml and compose.yaml.
class ContainerTest < Support::TestCase
  FILES = File.expand_path("../../examples/container", __dir__)
  UNSHARE = [*"unshare --pid --net --fork --kill-child --mount-proc sh -c".split, 'ip link set lo up && exec "$@"',
             "sh"].freeze
  SERVER = [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE].freeze
  # Prints the status of each path.
  PROBE = 'ARGV.each { |path| puts Net::HTTP.get_response("127.0.0.1", path, 8080).code }'

  if Support::Length::LONG
    def test_the_probes_see_the_server_ready_and_draining
      skip "not permitted here" unless Support::ChildProcess.run(*UNSHARE, "true").status.success?
      start_container
      assert_equal [%w[200 200 200], 0], [probe, health]
      { "drain" => [%w[503 503 200], 1], "resume" => [%w[200 200 200], 0] }.each do |command, seen|
        assert_predicate run_inside(*SERVER, command, chdir: temp_dir).status, :success?
        assert_equal seen, [probe, health]
      end
      signal
      @server.wait_for_output(/ draining: stops in 10\.0 s$/)
      assert_equal [%w[503 503 200], 1], [probe, health]
      signal
      assert_equal 0, @server.wait.exitstatus
    end
  end

  def test_the_grace_periods_are_longer_than_the_stop
    graceful = File.read("#{FILES}/bontebok.rb")[/^graceful_timeout (\d+)$/, 1].to_i
    margin = 5 # s, see docs/SIGNALS.md, "Exit handlers"
    assert_operator pod["terminationGracePeriodSeconds"], :>, variables.fetch("DRAIN_DELAY").to_i + graceful + margin
    assert_operator service["stop_grace_period"].to_i, :>, graceful + margin
  end

  private

  def yaml(name) = YAML.load_stream(File.read("#{FILES}/#{name}")).first
  def pod = yaml("kubernetes.yaml").dig("spec", "template", "spec")
  def container = pod["containers"].first
  def variables = container["env"].to_h { |variable| variable.values_at("name", "value") }
  def service = yaml("compose.yaml").dig("services", "app")

  def start_container
    command = JSON.parse(File.read("#{FILES}/Dockerfile")[/^CMD (.+)$/, 1])
    assert_equal %w[bundle exec bontebok], command.shift(3)
    %w[config tmp].each { |name| Dir.mkdir(File.join(temp_dir, name)) }
    temp_file("config/bontebok.rb", File.read("#{FILES}/bontebok.rb"))
    rackup_file("config.ru", "run ->(_env) { [200, {}, []] }\n")
    @server = Support::ServerProcess.new(*UNSHARE, *SERVER, *command, env: variables, chdir: temp_dir)
    children << @server
    @server.wait_for_output(/ ready in \d+ ms$/)
  end

  # unshare itself does not react to TERM.
  def supervisor = Support::ProcessTable.children(@server.pid).first.pid
  def signal = Process.kill("TERM", supervisor)

  # Returns the statuses of the three probes of kubernetes.yaml: start, readiness, liveness.
  def probe
    probes = %w[startupProbe readinessProbe livenessProbe].map { |name| container.dig(name, "httpGet") }
    assert_equal [8080], probes.map { |each| each["port"] }.uniq
    run_inside(RbConfig.ruby, "-rnet/http", "-e", PROBE, *probes.map { |each| each["path"] }).output.text.split
  end

  # Returns the exit status of the health check of compose.yaml.
  def health
    run_inside(*service.dig("healthcheck", "test").drop(1)).status.exitstatus
  end

  def run_inside(*command, **options)
    Support::ChildProcess.run("nsenter", "--target", supervisor.to_s, "--net", *command, **options)
  end
end
