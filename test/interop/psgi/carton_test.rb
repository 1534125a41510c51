# frozen_string_literal: true

require "fileutils"
require "test_helper"
require_relative "support/plackup"

# `carton exec` runs plackup with the modules of a project: those of local/. It needs a cpanfile and a
# cpanfile.snapshot, and no network.
class CartonTest < Support::TestCase
  SNAPSHOT = "# carton snapshot format: version 1.0\nDISTRIBUTIONS\n"

  def test_carton_executes_the_server_of_the_project
    temp_file("cpanfile", "requires 'Plack';\n")
    temp_file("cpanfile.snapshot", SNAPSHOT)
    install
    server = Interop::Plackup.new(temp_dir, "where", ["unix:#{temp_dir}/own.sock"], under: %w[carton exec --],
                                                                                    env: { "PERL5OPT" => nil })
    children << server.wait_until_ready
    pid, _name, _port, code = server.get.body.split
    assert_equal "#{temp_dir}/local/lib/perl5/Plack/Handler/Bontebok.pm", code
    assert_includes server.workers, pid.to_i
    assert_equal 0, server.stop.exitstatus
  end

  private

  # Does what `carton install` does with the distribution. perl finds compiled modules in a directory that has the name
  # of its architecture.
  def install
    Conform::PsgiProcess.build
    architecture = Support::ChildProcess.run("perl", "-MConfig", "-e", "print $Config{archname}").output.text
    library = File.join(temp_dir, "local/lib/perl5")
    { "lib" => library, "arch" => File.join(library, architecture) }.each do |part, target|
      FileUtils.mkdir_p(target)
      FileUtils.cp_r(File.join(Interop::Plackup::BLIB, part, "."), target)
    end
  end
end
