# frozen_string_literal: true

require "json"
require "test_helper"
require "bontebok/config/account"

# Tests the option `user`, and how a process changes to this user. A test that needs root forks a process.
class AccountTest < Support::TestCase
  NOBODY = Etc.getpwnam("nobody")

  def test_user_and_group_may_be_names_or_numbers
    { ["nobody", nil] => [NOBODY.uid, NOBODY.gid], [NOBODY.uid.to_s, nil] => [NOBODY.uid, NOBODY.gid],
      %w[nobody daemon] => [NOBODY.uid, Etc.getgrnam("daemon").gid], %w[4711 4712] => [4711, 4712],
      %w[nobody 4712] => [NOBODY.uid, 4712] }.each do |(user, group), ids|
      told = as_root { Bontebok::Account.new(user, group).act { [Process.euid, Process.egid] } }
      assert_equal ids, told
    end
  end

  def test_unknown_users_and_groups_are_errors
    { ["no-such", nil] => "there is no user no-such", %w[nobody no-such] => "there is no group no-such",
      ["4711", nil] => "the user 4711 has no primary group: write 4711:GROUP",
      ["4294967295", nil] => "there is no user 4294967295",
      ["9" * 30, nil] => "there is no user #{'9' * 30}" }.each do |(user, group), message|
      error = assert_raises(Bontebok::UsageError, message) { Bontebok::Account.new(user, group) }
      assert_equal [message, 2], [error.message, error.exit_status]
    end
  end

  def test_nothing_changes_if_no_user_is_set_or_the_process_has_this_user
    [[nil, nil], [Process.euid.to_s, Process.egid.to_s]].each do |user, group|
      account = Bontebok::Account.new(user, group)
      refute_predicate account, :change?
      account.check
      account.assume
      assert_equal [1, "as it is"], [account.act { 1 }, account.described("as it is")]
      account.append(temp_file("log", "a")).close
    end
  end

  def test_assume_changes_all_ids_for_good
    told = as_root do
      Bontebok::Account.new("nobody", "daemon").assume
      ids + ENV.values_at("HOME", "USER", "LOGNAME")
    end
    group = Etc.getgrnam("daemon").gid
    assert_equal [NOBODY.uid, NOBODY.uid, group, group, [group], NOBODY.dir, "nobody", "nobody"], told
    told = as_root { Bontebok::Account.new("4711", "4712").assume == {} ? ids : nil }
    assert_equal [4711, 4711, 4712, 4712, [4712]], told
  end

  def test_the_process_cannot_become_root_again
    assert_equal ["Errno::EPERM"] * 4, (as_root do
      Bontebok::Account.new("nobody", nil).assume
      %i[setuid seteuid setgid setegid].map { |call| error_of { Process::Sys.public_send(call, 0) } }
    end)
  end

  # A process that stays root can take any group again, and this is no error.
  def test_root_may_take_another_group
    group = Etc.getgrnam("daemon").gid
    told = as_root do
      Bontebok::Account.new("root", "daemon").assume
      ids.first(4)
    end
    assert_equal [0, 0, group, group], told
  end

  # The fake setuid leaves the saved user id unchanged.
  def test_assume_fails_if_the_process_could_become_root_again
    assert_equal "SecurityError", (as_root do
      Process::Sys.singleton_class.prepend(Module.new { def setuid(uid) = seteuid(uid) })
      error_of { Bontebok::Account.new("nobody", nil).assume }
    end)
  end

  def test_act_changes_the_effective_ids_while_the_block_runs
    secret = temp_file("secret")
    File.chmod(0o600, secret)
    before, during, after, error = as_root do
      account = Bontebok::Account.new("nobody", nil)
      [ids, account.act { ids }, ids, error_of { account.act { File.read(secret) } }]
    end
    assert_equal [before, "Errno::EACCES"], [after, error]
    assert_equal [0, NOBODY.uid, 0, NOBODY.gid], during.first(4).values_at(0, 1, 0, 3)
    assert_equal [NOBODY.gid], during.last
  end

  def test_the_message_of_an_error_names_the_user
    message = as_root { message_of { Bontebok::Account.new("nobody", nil).act { raise Bontebok::StartError, "no" } } }
    assert_equal "as the user nobody: no", message
  end

  def test_only_root_can_become_another_user
    message = as_root do
      Bontebok::Account.new("nobody", nil).assume
      message_of { Bontebok::Account.new("daemon", nil).check }
    end
    assert_equal "only root can become the user daemon: Operation not permitted", message
  end

  def test_the_user_owns_a_new_file_in_its_own_directory
    File.chown(NOBODY.uid, NOBODY.gid, temp_dir)
    assert_equal NOBODY.uid, owner_of_appended("#{temp_dir}/log")
  end

  def test_the_user_owns_a_new_file_in_a_directory_of_root
    File.chmod(0o755, temp_dir)
    2.times { assert_equal NOBODY.uid, owner_of_appended("#{temp_dir}/log") }
  end

  # chown fails in a container without the capability CHOWN. If the file stayed, the user could not write to the file at
  # the next start.
  def test_a_new_file_is_deleted_if_chown_fails
    File.chmod(0o755, temp_dir)
    error = as_root do
      File.prepend(Module.new { def chown(*) = raise(Errno::EPERM) })
      error_of { Bontebok::Account.new("nobody", nil).append("#{temp_dir}/log") }
    end
    assert_equal ["Errno::EPERM", []], [error, Dir.children(temp_dir)]
  end

  def test_an_existing_file_that_the_user_cannot_write_keeps_its_owner
    File.chmod(0o755, temp_dir)
    path = temp_file("log", "a")
    assert_equal "Errno::EACCES", owner_of_appended(path)
    assert_equal [0, "a"], [File.stat(path).uid, File.read(path)]
  end

  # A link could point to /etc. The server must not create a file there with root's privileges.
  def test_root_creates_no_file_through_a_link_of_the_user
    File.chmod(0o755, temp_dir)
    Dir.mkdir("#{temp_dir}/roots", 0o755)
    Dir.mkdir("#{temp_dir}/users")
    File.chown(NOBODY.uid, NOBODY.gid, "#{temp_dir}/users")
    File.symlink("#{temp_dir}/roots", "#{temp_dir}/users/logs")
    Dir.mkdir("#{temp_dir}/users/below", 0o755)
    ["#{temp_dir}/users/logs/log", "#{temp_dir}/users/below/log"].each do |path|
      assert_equal "Errno::EACCES", owner_of_appended(path)
    end
    File.symlink("#{temp_dir}/roots/none", "#{temp_dir}/roots/log")
    assert_equal "Errno::EACCES", owner_of_appended("#{temp_dir}/roots/log")
    assert_equal ["log"], Dir.children("#{temp_dir}/roots")
  end

  private

  # The check has the same result.
  def owner_of_appended(path)
    as_root do
      account = Bontebok::Account.new("nobody", nil)
      checked = error_of { account.check_append(path) }
      error = error_of { account.append(path).close }
      next "#{checked} and #{error}" unless checked == error

      error == "none" ? File.stat(path).uid : error
    end
  end

  def ids
    [Process.uid, Process.euid, Process.gid, Process.egid, Process.groups]
  end

  def error_of
    yield && "none"
    "none"
  rescue Exception => e # rubocop:disable Lint/RescueException
    e.class.name
  end

  def message_of
    yield
  rescue StandardError => e
    e.message
  end

  # Runs the block in a forked process that runs as root. Returns the value of the block.
  def as_root(&block)
    skip "only root can become another user" unless Process.euid.zero?
    reader, writer = IO.pipe
    pid = fork do
      writer.write([block.call].to_json)
      exit!(0)
    end
    writer.close
    JSON.parse(reader.read).first
  ensure
    reader&.close
    Process.wait(pid) if pid
  end
end
