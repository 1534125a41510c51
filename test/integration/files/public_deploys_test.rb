# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"
require_relative "../support/release_load"

# Deploys, rollbacks and killed workers under load. Each response has the file or the application of a release that
# serves, and never a file that another release has under this name, whatever the link `current` leads to.
class PublicDeploysTest < Support::TestCase
  include ControlCase

  ROUNDS = Support::Length.of(1, 10)

  def setup
    release_with_files(1)
    FileUtils.mkdir("#{temp_dir}/tmp")
  end

  def test_files_and_application_are_of_one_release
    start_under_load("--keep-former", "10m", "--control", control)
    ROUNDS.times do |round|
      release_with_files(2) # the link alone changes nothing
      kill_a_worker
      @load.await 1
      @load.change_to(2) { signal("USR2", /stays loaded for 600.0 s, without workers/, round) }
      release(3, ReleaseLoad.files(3).merge("config.ru" => "raise 'bad code'"))
      signal("USR2", /the deploy has failed/, round)
      kill_a_worker
      @load.await 2
      @load.change_to(1) { assert_command 0, /generation \d+ serves again/, "rollback", "--wait" }
    end
    assert_ends_well
  end

  # Each worker loads the release that is current. Both releases serve at once.
  def test_workers_without_preload
    skip "in the long form" unless Support::Length::LONG

    start_under_load("--preload", "false")
    ROUNDS.times do
      [2, 1].each do |number|
        release_with_files(number)
        @load.change_to(number) { replace_workers }
      end
    end
    assert_ends_well
  end

  private

  def release_with_files(number)
    release(number, ReleaseLoad.files(number))
  end

  def start_under_load(*args)
    @server = start_current("-w", "2", "--public", "public", *args)
    @load = ReleaseLoad.new(@server.address, 1)
    @load.await 1
  end

  # A kept master has none.
  def workers(server)
    masters = Support::ProcessTable.children(server.pid)
    masters.flat_map { |each| Support::ProcessTable.children(each.pid) }.map(&:pid)
  end

  def kill_a_worker
    former = workers(@server)
    @load.forgive do
      Process.kill("KILL", former.first)
      wait_for_workers(@server, 2, without: former.first(1))
    end
  end

  def replace_workers
    kill_a_worker
    former = workers(@server)
    @server.signal("HUP")
    wait_for_workers(@server, 2, without: former)
  end

  # Sends a signal, and waits until the pattern is in the log once more.
  def signal(name, pattern, round)
    @server.signal(name)
    @server.wait_for_output(/(?:.*#{pattern.source}){#{round + 1}}/m)
  end

  def assert_ends_well
    @load.stop
    assert_equal 0, @server.stop.exitstatus
  end
end
