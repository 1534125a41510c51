# frozen_string_literal: true

require "test_helper"
require "bontebok/system/process_memory"
require_relative "../integration/support/control_case"
require_relative "support/nothing_lost"

# Many deploys of one server, as Capistrano does them: a link leads to the current release, and old releases are
# removed.
class ReleasesSoakTest < Support::TestCase
  include Support::OnceMore
  include ControlCase
  include NothingLost

  LOAD_TOOL = File.join(ROOT, "lib/bontebok/bontebok-bench")
  # Bundler of the test sets these variables.
  CLEAN = ENV.keys.grep(/\A(BUNDLE|RUBYOPT|RUBYLIB|GEM_)/).to_h { |name| [name, nil] }
             .merge("RUBYOPT" => nil, "RUBYLIB" => nil).freeze
  APP = <<~'RUBY'
    text = [Rack.release[/\d+\.\d+/], Bontebok::VERSION, RUBY_PATCH, Dir.pwd].join(" ")
    run ->(_) { [200, { "content-type" => "text/plain" }, [text]] }
  RUBY
  # The versions of Rack, of Bontebok and of a planted Ruby.
  RELEASES = { 1 => ["2.2", Bontebok::VERSION, "1.1.1"], 2 => ["3.0", Bontebok::VERSION, "1.1.1"],
               3 => ["3.0", "99.1.2", "1.1.1"], 4 => ["3.0", "99.1.2", "2.2.2"] }.freeze
  UNSHARE = %w[unshare --pid --fork --kill-child --mount-proc].freeze
  # The first deploys fill caches and free lists.
  FIRST = 30
  DEPLOYS = 100
  REPLACEMENTS = 20
  SUPERVISOR = /\Athe supervisor runs bontebok /
  # Bytes by which the memory of the supervisor may grow. It grows by 2 KB per deploy.
  GROWTH = 1 << 20

  def setup
    FileUtils.mkdir("#{temp_dir}/tmp")
  end

  # An update of rack, of Bontebok, and of Ruby, a way back, and the update of the supervisor.
  def test_releases_with_other_versions_and_the_way_back
    server = start_first_release
    load = start_load(server)
    RELEASES.each_key.drop(1).each do |number|
      add_release(number)
      remove_release(number - 2) if number > 2
      assert_command 0, "generation #{number} serves\n", "deploy", "--wait"
      assert_release number, server
    end
    assert_command 0, "generation 3 serves again\n", "rollback", "--wait"
    assert_release 3, server
    assert_command 0, /\Athe supervisor runs bontebok 99\.1\.2, /, "deploy", "--supervisor"
    assert_command 0, "generation 5 serves\n", "deploy", "--wait"
    assert_release 4, server
    assert_equal server.pid, status["pid"]
    assert_load_ends(load)
    assert_equal 0, server.stop.exitstatus
  end

  def test_memory_and_descriptors_stay_flat_over_many_deploys
    release(1)
    server = start("--keep-former", "60s")
    FIRST.times { |number| deploy_and_wait(number + 2) }
    wait_for_two_masters(server)
    former = descriptors(server)
    size = memory(server)
    DEPLOYS.times { |number| deploy_and_wait(number + FIRST + 2) }
    wait_for_two_masters(server)
    assert(eventually(former, seen: -> { descriptors(server) }) { descriptors(server) <= former })
    assert_operator memory(server) - size, :<, GROWTH
    assert_equal 0, server.stop.exitstatus
  end

  # Each second replacement of the supervisor follows a deploy.
  def test_the_supervisor_is_replaced_under_load
    release(1)
    server = start_current("-w", "2", "--control", control, "--keepalive-drain", "10s", listen: ["-l", "127.0.0.1:0"])
    load = start_load(server)
    assert_command 0, SUPERVISOR, "deploy", "--supervisor"
    former = descriptors(server)
    REPLACEMENTS.times do |number|
      deploy_and_wait((number / 2) + 2) if number.odd?
      assert_command 0, SUPERVISOR, "deploy", "--supervisor"
    end
    assert_load_ends(load)
    eventually { Support::ProcessTable.children(server.pid).size == 1 }
    assert_equal former, descriptors(server)
    assert_equal 0, server.stop.exitstatus
  end

  # As in a container.
  def test_deploys_of_process_one
    skip "not permitted here" unless Support::ChildProcess.run(*UNSHARE, "true").status.success?
    release(1)
    server = start_current("-w", "2", "--control", control,
                           command: [*UNSHARE, RbConfig.ruby, Support::BontebokProcess::EXECUTABLE])
    supervisor = Support::ProcessTable.children(server.pid).first.pid
    10.times { |number| deploy_and_wait(number + 2) }
    assert_equal 1, status["pid"]
    assert_equal [supervisor], Support::ProcessTable.children(server.pid).map(&:pid)
    Process.kill("TERM", supervisor)
    assert_equal 0, server.wait.exitstatus
    refute_path_exists control
  end

  private

  def start_first_release
    add_release(1)
    current = "#{temp_dir}/current"
    path = "#{File.realpath(current)}/bin:#{ENV.fetch('PATH')}"
    start_current("-w", "2", "--control", control, "--keep-former", "60s", "--keepalive-drain", "10s",
                  listen: ["-l", "127.0.0.1:0"], command: ["#{current}/bin/bundle", "exec", "bontebok"],
                  env: { **CLEAN, "PATH" => path })
  end

  def add_release(number)
    rack, bontebok, ruby = RELEASES.fetch(number)
    release_with_bontebok(number, bontebok)
    directory = "#{temp_dir}/releases/#{number}"
    FileUtils.cp("#{ROOT}/bontebok.gemspec", directory)
    { "config.ru" => APP, "plant.rb" => "RUBY_PATCH = #{ruby.inspect}\n",
      "Gemfile" => <<~RUBY, "bin/bundle" => <<~SHELL }
        source Gem.sources.first.uri.to_s
        gem "bontebok", path: "."
        gem "rack", "~> #{rack}.0"
      RUBY
        #!/bin/sh
        RUBYOPT="-r$PWD/plant.rb" exec #{RbConfig.ruby} #{Gem.bin_path('bundler', 'bundle')} "$@"
      SHELL
      .each { |name, text| temp_file("releases/#{number}/#{name}", text) }
    File.chmod(0o755, "#{directory}/bin/bundle")
  end

  def assert_release(number, server)
    expected = "#{RELEASES.fetch(number).join(' ')} #{File.realpath(temp_dir)}/releases/#{number}"
    assert(eventually(expected, seen: -> { server.get.body }) { server.get.body == expected })
  end

  # Connections are kept, and new.
  def start_load(server)
    [[], ["--close"]].map do |options|
      start_process(LOAD_TOOL, "--json", "-c", "8", "--rate", "500", "-d", "120", *options, "http://#{server.address}/")
    end
  end

  def assert_load_ends(loads)
    loads.each do |load|
      load.signal("INT")
      assert_operator assert_nothing_lost(load)["ok"], :>, 100
    end
  end

  def deploy_and_wait(generation)
    release(generation)
    remove_release(generation - 2) if generation > 2
    assert_command 0, "generation #{generation} serves\n", "deploy", "--wait"
  end

  # Waits until only the new and the kept master run.
  def wait_for_two_masters(server)
    eventually { Support::ProcessTable.children(server.pid).size == 2 }
  end

  # Of the supervisor. The connection of the last client may still be open.
  def descriptors(server) = Dir.children("/proc/#{server.pid}/fd").size

  def memory(server) = Bontebok::ProcessMemory.read("/proc/#{server.pid}/smaps_rollup").own
end
