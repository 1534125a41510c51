# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"
require_relative "../support/releases"

# USR2 deploys the release to which the link `current` leads: gems, configuration and application are read again, and
# the supervisor keeps its pid (docs/DEPLOYS.md).
class DeployTest < Support::TestCase
  include ProcessTree
  include Releases

  def test_a_deploy_reads_configuration_and_application_again
    release(1, "config/bontebok.rb" => "max_workers 1\nlog 'log'\nlisten 'unix:#{temp_dir}/old.sock'\n" \
                                       "listen 'unix:#{temp_dir}/bontebok.sock'")
    server = start_by_file
    release(2, "config/bontebok.rb" => "max_workers 2\nlog '#{temp_dir}/log2'\nlisten 'unix:#{temp_dir}/new.sock'\n" \
                                       "listen 'unix:#{temp_dir}/bontebok.sock'")
    remove_release(1)
    server.signal("USR2")
    wait_for_log("log2", /master \(pid \d+\) has left: exit status 0/)
    assert_equal 2, workers(server).size
    %w[new bontebok].each { |name| assert_equal body(2), get("#{name}.sock").body }
    refute_path_exists "#{temp_dir}/old.sock"
    assert_equal 0, server.stop.exitstatus
    assert_empty Dir.glob("#{temp_dir}/*.sock")
  end

  def test_a_release_with_an_address_in_use_leaves_the_former_release_in_service
    release(1)
    server = start_current("-c", temp_file("shared.rb", "listen 'unix:#{temp_dir}/bontebok.sock'\nmax_workers 1\n"),
                           listen: [])
    other = TCPServer.new("127.0.0.1", 0)
    port = other.local_address.ip_port
    temp_file("shared.rb", "listen 'unix:#{temp_dir}/bontebok.sock', '127.0.0.1:#{port}'\nmax_workers 1\n")
    release(2)
    server.signal("USR2")
    server.wait_for_output(/cannot listen on 127.0.0.1:#{port}: Address already in use.*the deploy has failed/m)
    assert_serves 1, server
  ensure
    other&.close
  end

  # The look-up takes as long as the file "hangs" exists. The configuration file runs in the new master only.
  def test_a_host_name_is_looked_up_in_the_new_master
    shared = temp_file("shared.rb", "listen 'unix:#{temp_dir}/bontebok.sock'\nmax_workers 1\n")
    hangs = temp_file("hangs")
    release(1)
    server = start_current("-c", shared, listen: [])
    File.write(shared, <<~RUBY)
      listen 'unix:#{temp_dir}/bontebok.sock', 'name.invalid:0'
      max_workers 1
      Addrinfo.define_singleton_method(:getaddrinfo) do |host, *rest|
        raise SocketError if rest.last == Socket::AI_NUMERICHOST
        $stderr.puts "looks up \#{host}"
        sleep 0.01 while File.exist?('#{hangs}')
        [Addrinfo.tcp("127.0.0.1", 0)]
      end
    RUBY
    server.signal("USR2")
    server.wait_for_output(/looks up name\.invalid/)
    server.signal("TTOU")
    server.wait_for_output(/1 worker is the minimum/) # the supervisor does not wait
    File.unlink(hangs)
    server.wait_for_output(/master \(pid \d+\) has left/)
    assert_serves 1, server
  end

  def test_a_number_of_workers_that_signals_have_set_stays
    release(1)
    server = start_current("-w", "1")
    server.signal("TTIN")
    wait_for_workers(server, 2)
    release(2)
    deploy(server)
    assert_equal 2, wait_for_workers(server, 2).size
    assert_serves 2, server
  end

  def test_a_new_version_of_bontebok_serves_beside_the_old_one
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_current("-w", "1", command: [RbConfig.ruby, "exe/bontebok"])
    release_with_bontebok(2, "99.1.2")
    remove_release(1)
    deploy(server)
    assert_serves 2, server, "bontebok 99.1.2, leak nil"
    assert_match(/master/, title(master(server).pid))
  end

  # The file of another version has another layout: the scoreboard cannot be mapped.
  def test_a_version_with_another_layout_of_the_shared_memory_serves_alone
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_current("-w", "1", command: [RbConfig.ruby, "exe/bontebok"])
    release_with_other_layout(2, "99.1.2")
    deploy(server)
    server.wait_for_output(/the generations share only the listeners: other layout/)
    assert_serves 2, server, "bontebok 99.1.2, leak nil"
    Process.kill("KILL", master(server).pid)
    server.wait_for_output(/w1 g3 ready/)
    assert_serves 2, server, "bontebok 99.1.2, leak nil"
  end

  # PATH has a directory of the release.
  def test_each_release_can_have_its_own_ruby
    release_with_ruby(1, "1.2.3")
    path = "#{File.realpath("#{temp_dir}/current")}/bin:#{ENV.fetch('PATH')}"
    server = start_current("-w", "1", command: ["ruby", Support::BontebokProcess::EXECUTABLE], env: { "PATH" => path })
    assert_equal "1.2.3", server.get.body
    release_with_ruby(2, "4.5.6")
    deploy(server)
    assert_equal "4.5.6", server.get.body
  end

  def test_a_release_that_fails_leaves_the_former_release_in_service
    release(1)
    server = start_current(env: { "WEB_CONCURRENCY" => "2" })
    former = workers(server)
    bad_releases.each_with_index do |(files, message), index|
      release(index + 2, files)
      server.signal("USR2")
      server.wait_for_output(/(?:--wait --control .*? has failed: the present .*?continues\n.*?){#{index + 1}}/m)
      server.wait_for_output(/#{message}/) # by the master itself
    end
    assert_equal former, workers(server)
    assert_serves 1, server
    release(9)
    server.signal("USR2")
    wait_for_workers(server, 2, without: former)
    assert_serves 9, server
  end

  def test_a_missing_directory_or_command_fails_the_deploy
    release(1)
    server = start_current("-w", "1")
    File.unlink("#{temp_dir}/current")
    server.signal("USR2")
    server.wait_for_output(/the next master cannot be executed.*the deploy has failed/m)
    assert_serves 1, server
  end

  def test_a_hup_deploys_with_signal_hup_deploy
    release(1)
    server = start_current("-w", "1", "--signal-hup", "deploy")
    release(2)
    server.signal("HUP")
    server.wait_for_output(/master \(pid \d+\) has left/)
    assert_serves 2, server
  end

  def test_one_process_is_executed_again_in_its_place
    release(1)
    server = start_current("-w", "0", "--restart-file", "restart.txt")
    server.connect do |waiting|
      2.upto(4) do |number|
        release(number)
        server.signal("USR2")
        server.wait_for_output(/(?:.*ready in \d+ ms){#{number}}/m)
        assert_serves number, server
      end
      waiting.request("GET", "/")
      assert_nil waiting.read_response
    rescue Errno::EPIPE, Errno::ECONNRESET, Support::Error
      nil # an idle connection is closed
    end
    assert_equal 0, server.stop.exitstatus
    refute_path_exists "#{temp_dir}/bontebok.sock"
  end

  private

  def bad_releases
    { { "config.ru" => "raise 'bad code'" } => "bad code", { "config.ru" => "Process.daemon" } => "daemon would end",
      { "config/bontebok.rb" => "max_workers" } => "config/bontebok.rb:1",
      { "config/bontebok.rb" => "log '/proc/none/a'" } => "cannot write to /proc/none/a: its directory does not exist",
      { "config/bontebok.rb" => "max_workers 0" } => "max_workers 0 needs a restart",
      { "config/bontebok.rb" => "max_workers 1; after_fork { exit! }" } => "no worker became ready" }
  end

  def start_by_file
    directory = "#{temp_dir}/current"
    children << server = Support::ServerProcess.new(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE,
                                                    chdir: directory, env: { "PWD" => directory })
    wait_for_log("releases/1/log", /ready in/)
    server
  end

  def body(number)
    "release #{number}, bontebok #{Bontebok::VERSION}, leak nil"
  end

  # A program `ruby` that runs Ruby with a planted number of its version.
  def release_with_ruby(number, version)
    release(number, "config.ru" => "run ->(_) { [200, {}, [RUBY_PATCH]] }",
                    "plant.rb" => "RUBY_PATCH = #{version.inspect}",
                    "bin/ruby" => "#!/bin/sh\nexec #{RbConfig.ruby} -r \"$PWD/plant.rb\" \"$@\"\n")
    File.chmod(0o755, "#{temp_dir}/releases/#{number}/bin/ruby")
  end
end
