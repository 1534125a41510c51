# frozen_string_literal: true

require "test_helper"
require_relative "../../support/unix_listener_case"
require "bontebok/sockets/control/control_socket"

# Tests paths of unix sockets that are links, or too long.
class UnixListenerPathsTest < Support::UnixListenerCase
  def test_a_link_that_leads_nowhere_is_said_to_do_so
    File.symlink("gone", @path)
    %i[bind check].each do |step|
      assert_fails("#{@path} is a link to gone, which does not exist") { listener.public_send(step) }
    end
    assert File.symlink?(@path)
  end

  # The socket gets the place of the link, as in puma and unicorn.
  def test_a_link_counts_as_what_it_leads_to
    File.symlink("#{temp_dir}/other", @path)
    listening("#{temp_dir}/other")
    assert_fails("Address already in use by this process") { listener.bind }
    @opened.shift.close
    listening
    assert_equal [false, true], [File.symlink?(@path), File.socket?("#{temp_dir}/other")]
  end

  # The default is in the working directory, whose name may be long.
  def test_the_path_of_a_control_socket_may_be_too_long
    path = "#{temp_dir}/#{'x' * 107}"
    error = assert_raises(Bontebok::StartError) { Bontebok::ControlSocket.check(path) }
    assert_equal "the control socket wants a unix path of at most 107 bytes (#{path} has #{path.bytesize})",
                 error.message
  end

  private

  def assert_fails(reason, &)
    error = assert_raises(Bontebok::StartError, &)
    assert_equal "cannot listen on unix:#{@path}: #{reason}", error.message
  end
end
