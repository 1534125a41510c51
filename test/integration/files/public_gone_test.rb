# frozen_string_literal: true

require "test_helper"
require_relative "../support/releases"

# Directories of `public` that are removed, made again or replaced while the server runs. What is no file goes to the
# application.
class PublicGoneTest < Support::TestCase
  include Releases

  APP = "run ->(_) { [200, {}, ['application']] }\n"
  # The core keeps the first in memory, and the descriptor of the second.
  FILES = { "/below/small.txt" => 20, "/below/large.txt" => 20_000 }.freeze

  def setup
    release(1, "config.ru" => APP)
    make_files("one")
    @server = start_current("-w", "1", "--public", "public")
    @kept = @server.connect
    assert_sent "one"
  end

  def teardown
    @kept&.close
    super
  end

  def test_a_directory_below
    remove_below
    assert_application
    make_files("two")
    assert_sent "two"
    make_files("three", "other")
    remove_below
    File.symlink("../other/below", path("public/below"))
    assert_sent "three"
    File.unlink(path("public/below"))
    assert_application
  end

  # The server has the removed directory open until the next deploy.
  def test_the_directory_itself
    FileUtils.rm_r(path("public"))
    assert_application
    make_files("two")
    assert_application
    @server.signal("USR2")
    assert_sent "two", new: true
  end

  private

  def path(name) = "#{temp_dir}/releases/1/#{name}"

  def remove_below = FileUtils.rm_r(path("public/below"))

  def make_files(text, directory = "public")
    FILES.each { |target, size| temp_file("releases/1/#{directory}#{target}", text * size) }
  end

  # The server looks once a second whether files have changed. new: a worker that has the connection leaves.
  def assert_sent(text, new: false)
    assert_answers(FILES.transform_values { |size| text * size }, new: new)
  end

  def assert_application
    assert_answers(FILES.transform_values { "application" })
  end

  def assert_answers(expected, new: false)
    seen = nil
    assert(eventually("other answers", seen: -> { seen.inspect[0, 500] }) do
      (seen = expected.to_h { |target, _| [target, ask(target, new)] }) == expected
    end)
  end

  def ask(target, new)
    return @server.get(target).body if new

    @kept.request("GET", target)
    @kept.read_response.body
  end
end
